python $(expr 32 / 4 / 2) $(expr 2 + 3 \* 4 - 1) $(expr \( 2 + 3 \) \* 4) $(expr 7 % 4) $(expr -7 / 2) $(expr -7 % 2)
python "$(expr abc : 'a\(.*\)')" "$(expr abcd : 'abc')" "$(expr abc : x)" "$(expr length abcd)" "$(expr substr abcd 2 2)" "$(expr index abcd dc)"
python "$(expr 3 \< 10)" "$(expr b \> abc)" "$(expr 1 = 01)" "$(expr a != b)" "$(expr 0 \| 5)" "$(expr '' \| '')" "$(expr 1 \& 0)" "$(expr 4 \& 5)"
expr 0 > /dev/null || python zero
expr 1 / 0 2> /dev/null || python "$?"
expr a + 1 2> /dev/null || python "$?"
expr 1 + 2> /dev/null || python "$?"
python "$(expr 16 / 3 \* 3)" $(expr $(expr 1 + 1) + 1) "$(expr + length)" "$(expr match abc 'a.')"
echo "1 2" | tee -a /tmp/x /tmp/y | xargs python

# bash -s with arguments takes the first one for a file.
bash -s one <<< 'python "$1"'

# The letters of $-.
set -e
python "$-"

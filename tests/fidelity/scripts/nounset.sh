set -euo pipefail
python before.py
VALUE=${GIVEN:-$MISSING}
python after.py "$VALUE"

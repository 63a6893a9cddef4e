pip install -r requirements.txt || exit 1
apt-get update && apt-get install -y git
git clone https://example.invalid/x.git && cd x || python no_clone.py
cd "$(git rev-parse --show-toplevel)" && python top.py
pkill -9 sglang; sleep 3; ray stop --force; killall python
ray start --head --num-gpus 8
kill -9 $(pgrep -f nothing) 2>/dev/null
curl -sSf https://example.invalid | bash
docker run --rm image python x
sudo -E python y.py
conda activate env; module load cuda
ulimit -n 65536; ulimit -c unlimited; umask 022
source /opt/conda/bin/activate base
until ray status; do sleep 5; done
/usr/bin/python3 abs.py; /opt/x/bin/python opt.py; ~/venv/bin/python home.py; $HOME/bin/tool t

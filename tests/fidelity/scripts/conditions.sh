DEVICE=${DEVICE:-$(python3 -c 'import torch_npu' 2>/dev/null && echo npu || echo gpu)}
if [[ "$DEVICE" == "npu" ]]; then python npu.py; elif [ "$DEVICE" = gpu ]; then python gpu.py; fi
GPUS=$(nvidia-smi --query-gpu=name --format=csv,noheader | wc -l)
(( GPUS >= 8 )) && python many.py "$GPUS"
[[ ${GPUS} =~ ^[0-9]+$ ]] && python number.py "${BASH_REMATCH[0]}"
command -v npu-smi >/dev/null 2>&1 || python no_npu.py
type nosuchtool &>/dev/null || python no_tool.py
which python torchrun
hash nosuch2 2>/dev/null || python no_hash.py
case "$(uname -m)" in x86_64 | amd64) python x86.py ;; *) python other.py ;; esac
NVLINK=$(nvidia-smi topo -m 2>/dev/null | grep -o 'NV[0-9][0-9]*' | wc -l)
[ "$NVLINK" -gt 0 ] && python nvlink.py $NVLINK
test -f lib/env.sh || python relative.py
python "$(hostname)" "$(hostname -I)" "$(nproc)" "$(date +%Y%m%d-%H%M%S)" "$(whoami)" "$(id -u)"
if [ -z "${TP}" ]; then TP=4; fi
[ -n "$TP" ] && python tp.py $TP

#!/bin/bash -u
#SBATCH --nodes=2
echo "$HOME" "$USER" "$PWD" "$BASHPID" "${BASH_SOURCE[0]}" "$RANDOM" "$HOSTNAME" "$LC_ALL" "$UID"
echo "$SLURM_JOB_ID" "$SLURMD_NODENAME" "$RANK" "$WORLD_SIZE" "$MASTER_ADDR" "$CUDA_VISIBLE_DEVICES" "$http_proxy"
srun --nodes="$SLURM_NNODES" bash -c "echo \$NOT_OURS"
awk '{print $NF, $foo}' hosts
python3 -c 'print("$not_bash")'
torchrun train.py "$1" "$@" "$#" "$?" "$$" "$!"

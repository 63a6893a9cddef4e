torchrun --nproc_per_node=8 --nnodes "${NNODES:-1}" train.py "$@" 2>&1 | tee train.log
python3 -m torch.distributed.run --standalone train.py
accelerate launch --config_file a.yaml train.py
deepspeed --num_gpus=8 train.py
srun -N 2 bash -c "python train.py --a 'b c'"
ray job submit --address="http://127.0.0.1:8265" --runtime-env-json='{"env_vars": {"A": "1"}}' -- python3 -m train
uv run --frozen python -m train
env A=1 B="2 3" python train.py
nohup python train.py > out.log 2>&1 &
wait
exec python last.py --x
python never.py

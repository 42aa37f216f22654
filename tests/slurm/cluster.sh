#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A private Slurm on one host, for tests: munged, slurmctld and N slurmd, all as the calling user (root or not),
# everything below one folder, on ports of its own. No systemd, no cgroups, no accounting data base.
#
#   cluster.sh start DIR [NODES] [CPUS_PER_NODE] [BASE_PORT]
#   cluster.sh stop DIR
#   cluster.sh kill-node DIR NODE      # kill -9 of one slurmd and of what runs below it: a node that is lost
#   cluster.sh isolate DIR NODE        # kill -9 of one slurmd alone: its network is lost, its tasks go on
#   cluster.sh start-node DIR NODE     # ... and its return
#   . DIR/env                          # SLURM_CONF for sbatch, squeue, scontrol, sinfo
set -euo pipefail
PATH=$PATH:/usr/sbin:/sbin
what=${1:?start, stop, kill-node, isolate or start-node}; dir=$(realpath -m "${2:?a folder}")

wait_for() {  # SECONDS MESSAGE COMMAND...
  local end=$((SECONDS + $1)) message=$2; shift 2
  until "$@" >/dev/null 2>&1; do
    if ((SECONDS >= end)); then echo "cluster.sh: $message; see $dir/log" >&2; return 1; fi
    sleep 0.1
  done
}
all_idle() { [ "$(sinfo -h -t idle -o %D | awk '{n += $1} END {print n + 0}')" = "$nodes" ]; }
start_node() { slurmd -N "$1" -f "$dir/slurm.conf"; }

case $what in
start)
  nodes=${3:-2}; cpus=${4:-2}; port=${5:-26817}
  mkdir -p "$dir"/{state,spool,log,run}; chmod 755 "$dir" "$dir"/*
  user=$(id -un); host=$(hostname -s)
  # munge: a key and a socket of our own. The folder of the socket must be accessible, the key private.
  [ -s "$dir/munge.key" ] || (umask 077; dd if=/dev/urandom of="$dir/munge.key" bs=1 count=1024 status=none)
  cat >"$dir/slurm.conf" <<CONF
ClusterName=dpsosptest
SlurmctldHost=$host(127.0.0.1)
SlurmUser=$user
SlurmdUser=$user
AuthType=auth/munge
CredType=cred/munge
AuthInfo=socket=$dir/run/munge.socket,cred_expire=5
SlurmctldPort=$port
SlurmctldPidFile=$dir/run/slurmctld.pid
SlurmdPidFile=$dir/run/slurmd-%n.pid
StateSaveLocation=$dir/state
SlurmdSpoolDir=$dir/spool/%n
SlurmctldLogFile=$dir/log/slurmctld.log
SlurmdLogFile=$dir/log/slurmd-%n.log
# nothing that needs root or cgroups
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
JobCompType=jobcomp/filetxt
JobCompLoc=$dir/log/jobs.txt
MpiDefault=none
SwitchType=switch/none
# scheduling
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerType=sched/backfill
SchedulerParameters=sched_interval=1,bf_interval=1,sched_min_interval=0,batch_sched_delay=0
PreemptType=preempt/partition_prio
PreemptMode=REQUEUE
MaxArraySize=10001
MaxJobCount=20000
# a test cluster reacts at once
JobRequeue=1
KillWait=5
InactiveLimit=0
MinJobAge=300
SlurmctldTimeout=30
SlurmdTimeout=10
MessageTimeout=10
ReturnToService=2
SlurmdParameters=config_overrides
NodeName=n[1-$nodes] NodeHostname=$host NodeAddr=127.0.0.1 Port=[$((port + 1))-$((port + nodes))] CPUs=$cpus RealMemory=1000
PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE DefaultTime=10 State=UP PriorityTier=1 PreemptMode=REQUEUE GraceTime=5
PartitionName=urgent Nodes=ALL MaxTime=INFINITE DefaultTime=10 State=UP PriorityTier=10 PreemptMode=OFF
CONF
  printf 'export SLURM_CONF=%q\n' "$dir/slurm.conf" >"$dir/env"
  . "$dir/env"
  munged --force --key-file="$dir/munge.key" --socket="$dir/run/munge.socket" --pid-file="$dir/run/munged.pid" \
    --seed-file="$dir/run/munged.seed" --log-file="$dir/log/munged.log" --num-threads=2
  slurmctld -f "$dir/slurm.conf"
  wait_for 20 "slurmctld does not answer" scontrol ping
  for i in $(seq "$nodes"); do start_node "n$i"; done
  wait_for 30 "the nodes do not come up" all_idle
  ;;
stop)
  for pid in "$dir"/run/slurmd-*.pid "$dir"/run/slurmctld.pid "$dir"/run/munged.pid; do
    if [ -s "$pid" ]; then p=$(cat "$pid"); kill "$p" 2>/dev/null || true; wait_for 10 "$pid does not end" bash -c "! kill -0 $p" || kill -9 "$p"; rm -f "$pid"; fi
  done
  ;;
kill-node)
  # Job steps (slurmstepd) outlive their slurmd; a node that is lost takes them and their processes along. The sockets
  # in the spool folder, NODE_JOB.STEP, say which are this node's.
  node=${3:?a node}
  tree() { local c; echo "$1"; for c in $(pgrep -P "$1" || true); do tree "$c"; done; }
  victims=$(cat "$dir/run/slurmd-$node.pid")
  for socket in "$dir/spool/$node/${node}_"*.*; do
    [ -S "$socket" ] || continue
    job=${socket##*_}; job=${job%%.*}
    for step in $(pgrep -f "^slurmstepd: \[$job\.(batch|extern|[0-9]+)\]" || true); do victims+=" $(tree "$step")"; done
  done
  kill -9 $victims 2>/dev/null || true
  rm -f "$dir/run/slurmd-$node.pid"
  ;;
isolate)
  node=${3:?a node}
  kill -9 "$(cat "$dir/run/slurmd-$node.pid")"
  rm -f "$dir/run/slurmd-$node.pid"
  ;;
start-node) start_node "${3:?a node}" ;;
*) echo "cluster.sh: start, stop, kill-node, isolate or start-node" >&2; exit 2 ;;
esac

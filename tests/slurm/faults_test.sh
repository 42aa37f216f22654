#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# faults_test.sh PROGRAM SWEEP: a sweep of 300 runs on a Slurm of three nodes that this starts, of which
# two are lost, one is cut off while its tasks go on, one task is requeued, one preempted, and one told
# that its time is nearly over. The tables are those of one process, byte by byte, and what was
# computed twice are runs of tasks that were on the node that was cut off.
set -euo pipefail
PATH=$PATH:/usr/sbin:/sbin
program=$1 sweep=$2 here=$(dirname "$(readlink -f "$0")")
for needed in slurmctld slurmd munged sbatch squeue; do
  command -v "$needed" >/dev/null || { echo "skipped: there is no $needed here"; exit 77; }
done

folder=$(mktemp -d)
cleanup() {
  "$here/cluster.sh" stop "$folder/slurm" >/dev/null 2>&1 || true
  [ -n "${KEEP:-}" ] && echo "kept: $folder" || rm -rf "$folder"
}
trap cleanup EXIT
fail() { echo "failed: $*" >&2; sinfo >&2 || true; squeue >&2 || true; tail -n 3 "$folder"/out/plans/*/log/* >&2 || true; exit 1; }
wait_for() {  # SECONDS WHAT COMMAND...
  local end=$((SECONDS + $1)) what=$2
  shift 2
  until "$@"; do
    ((SECONDS < end)) || fail "$what did not happen"
    sleep 0.3
  done
}
plan=$folder/out/plans/0001
running() { [ "$(squeue -h -t running -o %i | wc -l)" -ge "$1" ]; }
lines_of() { cat "$plan"/journals/*/"$(printf %06d "$1")".*.jsonl 2>/dev/null | grep -c '^{"key"' || true; }
runs_done() { cat "$plan"/journals/*/*.jsonl 2>/dev/null | grep -c '^{"key"' || true; }
at_least() { [ "$(runs_done)" -ge "$1" ]; }
tasks_on() { squeue -h -t running -w "$1" -o '%F %K' | awk -v job="$job" '$1 == job {print $2}'; }
first_on() { tasks_on "$1" | sed -n 1p; }
busy() { [ -n "$(tasks_on "$1")" ]; }
queue_is_empty() { [ -z "$(squeue -h -o %i)" ]; }

cd "$folder"
"$program" sweep "$sweep" --scale quick --out one --threads 2 --quiet >/dev/null

"$here/cluster.sh" start "$folder/slurm" 3 2
. "$folder/slurm/env"
"$program" sweep "$sweep" --scale quick --out out --slurm --tasks 12 --expect 1 \
  --sbatch "--time=2 --signal=B:USR1@20" | tee submitted
job=$(sed -n 's/^submitted: job \([0-9]*\) .*/\1/p' submitted)

wait_for 60 "a start of six tasks" running 6
wait_for 60 "the first runs" at_least 10
"$here/cluster.sh" kill-node "$folder/slurm" n1
echo "n1 is lost with its tasks after $(runs_done) runs"

cut_off=$(tasks_on n2)
"$here/cluster.sh" isolate "$folder/slurm" n2
echo "n2 is cut off, with tasks" $cut_off

requeued=$(first_on n3)
[ -z "$requeued" ] || scontrol requeue "${job}_$requeued"
echo "task $requeued is requeued"
wait_for 60 "a task on n3" busy n3

# What Slurm sends before the time limit, sent now: when a limit is met depends on the machine's speed.
limited=$(first_on n3)
wait_for 60 "a run of task $limited" bash -c "cat $plan/journals/*/$(printf %06d "$limited").*.jsonl 2>/dev/null | grep -q '^{\"key\"'"
scancel --batch --signal=USR1 "${job}_$limited"
echo "task $limited is told that its time is nearly over"

is_down() { sinfo -h -n "$1" -o %T | grep -q down; }
wait_for 90 "n2 is noticed to be gone" is_down n2
wait_for 90 "n1 is noticed to be gone" is_down n1
"$here/cluster.sh" start-node "$folder/slurm" n1
wait_for 90 "a task on n1" bash -c "[ -n \"\$(squeue -h -t running -w n1 -o %i)\" ]"
urgent=$(sbatch --parsable -p urgent -w n3 -c 2 --output=/dev/null --wrap 'sleep 2')
wait_for 90 "the urgent job" bash -c "[ -z \"\$(squeue -h -j $urgent -o %i 2>/dev/null)\" ]"
echo "an urgent job has run on n3"
"$here/cluster.sh" kill-node "$folder/slurm" n1
echo "n1 is lost again after $(runs_done) runs"
"$here/cluster.sh" start-node "$folder/slurm" n2
sleep 12
"$here/cluster.sh" start-node "$folder/slurm" n1

wait_for 420 "the end of all jobs" queue_is_empty
"$program" sweep "$sweep" --scale quick --out out --status
for table in one/*/*; do
  name=${table#one/}
  [ "${name##*/}" = timings.csv ] || cmp "$table" "out/$name" || fail "$name differs"
done
total=$(runs_done) distinct=$(cat "$plan"/journals/*/*.jsonl | grep -o '^{"key":"[0-9a-f]*"' | sort -u | wc -l)
[ "$distinct" = 300 ] || fail "$distinct of 300 runs are in the journals"
for shard in $(seq 12); do
  lines=$(lines_of "$shard")
  keys=$(cat "$plan"/journals/*/"$(printf %06d "$shard")".*.jsonl | grep -o '^{"key":"[0-9a-f]*"' | sort -u | wc -l)
  [ "$lines" = "$keys" ] || grep -qx "$shard" <<<"$cut_off" ||
    fail "shard $shard computed $((lines - keys)) runs twice and was not on the node that was cut off"
done
attempts=$(ls "$plan"/journals/*/*.jsonl | wc -l)
stopped=$(grep -l 'the time is nearly over' "$plan"/log/*.txt | wc -l || true)
[ "$stopped" -ge 1 ] || fail "no task ended before its time limit"
echo "300 runs, $((total - distinct)) of them twice, in $attempts attempts at 12 tasks; $stopped ended before their time limit; the tables are those of one process"

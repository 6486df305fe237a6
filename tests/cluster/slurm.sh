#!/usr/bin/env bash
# A Slurm of one node on this machine, for tests: munge, slurmctld and slurmd from Debian's slurm-wlm. Needs root.
#   slurm.sh start DIR     writes its configuration below DIR and starts it; then export SLURM_CONF=DIR/slurm.conf
#   slurm.sh stop DIR
set -euo pipefail
action=$1 folder=$(realpath -m "$2") host=$(hostname -s)
export SLURM_CONF=$folder/slurm.conf

stop() {  # and wait: the next one wants the same ports
  for name in slurmd slurmctld munged; do
    [ -f "$folder/$name.pid" ] || continue
    pid=$(cat "$folder/$name.pid")
    kill "$pid" 2>/dev/null || true
    for _ in $(seq 100); do
      kill -0 "$pid" 2>/dev/null || break
      sleep .1
    done
    kill -KILL "$pid" 2>/dev/null || true
  done
}

start() {
  mkdir -p "$folder"/{state,spool,munge}
  chmod 755 "$folder"
  cores=$(nproc) memory=$(($(awk '/MemTotal/ {print $2}' /proc/meminfo) / 1024 - 1024))
  cat > "$SLURM_CONF" <<CONF
ClusterName=lopsided
SlurmctldHost=$host
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket=$folder/munge/socket
CryptoType=crypto/munge
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SchedulerType=sched/backfill
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
ReturnToService=2
SlurmctldPort=16817
SlurmdPort=16818
SlurmctldPidFile=$folder/slurmctld.pid
SlurmdPidFile=$folder/slurmd.pid
StateSaveLocation=$folder/state
SlurmdSpoolDir=$folder/spool
SlurmctldLogFile=$folder/slurmctld.log
SlurmdLogFile=$folder/slurmd.log
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
MpiDefault=none
KillWait=20
OverTimeLimit=0
NodeName=$host CPUs=$cores RealMemory=$memory State=UNKNOWN
PartitionName=tests Nodes=$host Default=YES MaxTime=INFINITE State=UP OverSubscribe=FORCE:4
CONF
  dd if=/dev/urandom of="$folder/munge/key" bs=1 count=1024 2>/dev/null
  chown -R root:root "$folder"
  chmod 400 "$folder/munge/key"
  munged --force --key-file="$folder/munge/key" --socket="$folder/munge/socket" --pid-file="$folder/munged.pid" \
    --log-file="$folder/munged.log" --seed-file="$folder/munge/seed"
  slurmctld -f "$SLURM_CONF"
  slurmd -f "$SLURM_CONF"
  for _ in $(seq 20); do
    if timeout 5 sinfo -h -o %T 2>/dev/null | grep -q idle; then
      sinfo
      return
    fi
    sleep 1
  done
  tail -5 "$folder"/slurmctld.log "$folder"/slurmd.log >&2
  exit 1
}

"$action"

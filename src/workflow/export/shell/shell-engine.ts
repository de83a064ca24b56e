/**
 * The part of the script that is the same for every workflow: options, order, time-outs, markers, teardown.
 *
 * What it calls is written for each workflow: `all_steps`, `variables_of`, `given_of`, `script_of` and `check_needs`.
 */
export const shellEngine = `
usage() {
  cat <<END
Runs the workflow $workflow on this machine, step after step.

  bash $0 [--dir DIR] [--from STEP] [--keep]   run it; run again, it goes on where it stopped
  bash $0 [--dir DIR] --teardown               only the teardown (post) of what was begun
  bash $0 [--dir DIR] --list                   the steps, and what became of them

  --dir DIR    holds all of this run: shared/ artifacts/ logs/ done/ (default ./$workflow-run)
  --from STEP  begins at this step, by name or number; those before it count as done
  --keep       a run that fails keeps what it made: no teardown until --teardown
END
}

say() { printf '%s %s\\n' "$(date -u +%H:%M:%SZ)" "$*" >&2; }
stop_with() { printf 'error: %s\\n' "$2" >&2; exit "$1"; }

# --- one step ---

# clear_environment KEPT...: exported variables and functions go, but for a few that every program needs, and KEPT.
clear_environment() {
  local _each _kept
  while read -r _ _ _each; do unset -f "$_each"; done < <(declare -Fx)
  for _each in $(compgen -e); do
    for _kept in PATH HOME LANG LC_ALL TMPDIR "$@"; do [ "$_each" = "$_kept" ] && continue 2; done
    unset "$_each" 2>/dev/null || :
  done
}

# exec_step NUMBER LABEL TIMEOUT GRACE KIND: becomes the step, in a process group of its own (that is what timeout does).
exec_step() {
  local _number=$1 _shared=$dir/shared _artifacts=$dir/artifacts/$2 _file=$dir/scripts/$2 _profile=$profile_dir _hash _given
  _hash=$(cat "$dir/unique-hash")
  read -r -a _given < <(given_of "$1")
  mkdir -p "$_artifacts"
  script_of "$1" >"$_file"
  chmod 700 "$_file"
  if [ "$5" = program ]; then set -- timeout -k "$4" "$3" "$_file"; else set -- timeout -k "$4" "$3" /bin/bash "$_file"; fi
  cd "$dir/work" || exit 1
  clear_environment "\${_given[@]}"
  export SHARED_DIR=$_shared ARTIFACT_DIR=$_artifacts CLUSTER_PROFILE_DIR=$_profile
  export KUBECONFIG=$_shared/kubeconfig KUBEADMIN_PASSWORD_FILE=$_shared/kubeadmin-password
  export JOB_NAME=$workflow JOB_NAME_SAFE=$workflow BUILD_ID=$_hash UNIQUE_HASH=$_hash NAMESPACE=ci-op-$_hash
  variables_of "$_number"
  # The step holds the lock, too: a script that was killed cannot be begun again beside the step that it left.
  exec "$@" </dev/null
}

# run_step NUMBER LABEL TIMEOUT GRACE KIND: ends with the status of the step.
run_step() {
  local before=$signals status again
  [ "$phase" != post ] && [ "$signals" -gt 0 ] && return 130
  say "begin  $2"
  (exec_step "$@") >>"$dir/logs/$2.log" 2>&1 &
  child=$!
  [ "$signals" = "$before" ] || kill -TERM "$child" 2>/dev/null
  wait "$child"
  status=$?
  # A signal to this script ends the wait, not the step.
  while [ "$signals" != "$before" ]; do
    before=$signals
    wait "$child"
    again=$?
    [ "$again" = 127 ] || status=$again
  done
  # What the step left running goes with it, as at the end of a container.
  kill -KILL -- "-$child" 2>/dev/null
  child=
  warn_of_shared "$2"
  return "$status"
}

# In ci-operator SHARED_DIR is a Secret: directories do not reach the next step, and 1 MiB is all there is.
warn_of_shared() {
  local size
  if [ -n "$(find "$dir/shared" -mindepth 1 -type d -print -quit)" ]; then
    say "note: $1 left a directory in SHARED_DIR; ci-operator would lose it"
  fi
  size=$(find "$dir/shared" -type f -printf '%s\\n' | awk '{ sum += $1 } END { print sum + 0 }')
  [ "$size" -le 1048576 ] || say "note: SHARED_DIR holds $size bytes after $1; ci-operator takes 1048576"
}

on_signal() {
  signals=$((signals + 1))
  if [ "$phase" = post ] && [ "$signals" = 1 ]; then
    say "SIG$1: the teardown goes on; once more ends the step that runs"
  elif [ -n "$child" ] && [ "$signals" -gt 2 ]; then
    kill -KILL -- "-$child" 2>/dev/null
  elif [ -n "$child" ]; then
    say "SIG$1: the step that runs is asked to end; what comes next is the teardown"
    kill -TERM "$child" 2>/dev/null
  fi
}

# --- the order ---

# visit PHASE NUMBER LABEL TIMEOUT GRACE KIND FLAGS: all_steps calls it for every step.
visit() {
  case $visitor in
    run) run_one "$@" ;;
    list) list_one "$2" "$3" ;;
    count) [ "$1" = post ] || [ -e "$dir/done/$3" ] || unfinished=$((unfinished + 1)) ;;
    pass) pass_one "$2" "$3" ;;
  esac
}

run_one() {
  local status
  [ "$1" = "$phase" ] || return 0
  [ ! -e "$dir/done/$3" ] || return 0
  [ "$phase" = post ] || [ "$outcome" = success ] || return 0
  if [[ $7 == *optional-on-success* ]] && [ "$outcome_before_post" = success ]; then
    say "skip   $3: everything before the teardown went well"
    echo skipped >"$dir/done/$3"
    return 0
  fi
  run_step "$2" "$3" "$4" "$5" "$6"
  status=$?
  if [ "$status" = 0 ]; then
    say "done   $3"
    echo "done" >"$dir/done/$3"
    return 0
  fi
  [ "$status" != 124 ] || say "$3 exceeded the configured timeout of $4 s"
  if [[ $7 == *best-effort* ]] && [ "$signals" = 0 ]; then
    say "failed $3 (status $status), which is allowed to: $dir/logs/$3.log"
    echo "ignored" >"$dir/done/$3"
    return 0
  fi
  say "failed $3 (status $status): $dir/logs/$3.log"
  outcome=failure
}

list_one() {
  local state=pending
  [ ! -e "$dir/done/$2" ] || state=$(cat "$dir/done/$2")
  printf '%-8s %s\\n' "$state" "$2"
}

# pass_one NUMBER LABEL: what stands before --from counts as done.
pass_one() {
  [ "$is_passing" = yes ] || return 0
  case $from in "$1" | "$2" | "\${2#*-}") is_passing=no; return 0 ;; esac
  [ -e "$dir/done/$2" ] || passed+=("$2")
}

walk() { visitor=$1; all_steps; }

# However this script ends, the teardown follows; after SIGKILL, when it is run again.
finish() {
  local status=$? interrupted=$signals
  trap - EXIT
  [ "$status" = 0 ] || outcome=failure
  if [ "$keep" = yes ] && [ "$outcome" = failure ] && [ ! -e "$dir/outcome" ]; then
    say "kept: run again to go on, or with --teardown to take everything away"
  else
    [ -e "$dir/outcome" ] || echo "$outcome" >"$dir/outcome"
    outcome_before_post=$outcome phase=post signals=0
    walk run
  fi
  if [ "$outcome" = success ]; then say "complete: $workflow"; else say "failed: $workflow; what each step printed is in $dir/logs"; fi
  [ "$interrupted" = 0 ] && [ "$signals" = 0 ] || exit 130
  [ "$outcome" = success ] || exit 1
  exit 0
}

# --- the command line ---

need_variable() {
  [ -n "\${!1+set}" ] && return 0
  printf 'missing: the variable %s, for %s\\n' "$1" "$2" >&2
  missing=yes
}

need_directory() {
  [ -d "$1" ] && return 0
  printf 'missing: the directory %s, for %s\\n' "$1" "$2" >&2
  missing=yes
}

prepare() {
  umask 077
  command -v timeout >/dev/null || stop_with 1 "timeout (coreutils) is not installed"
  mkdir -p "$dir"/{shared,artifacts,logs,done,scripts,work} || stop_with 1 "$dir cannot be written"
  exec 9>"$dir/lock"
  if command -v flock >/dev/null && ! flock -n 9; then stop_with 1 "$dir is in use by a run of this script, or by a step that one left"; fi
  [ -s "$dir/unique-hash" ] || head -c 64 /dev/urandom | sha256sum | cut -c1-5 >"$dir/unique-hash"
}

pass_until_from() {
  local each
  is_passing=yes
  walk pass
  [ "$is_passing" = no ] || stop_with 64 "no step is called $from; --list has them all"
  for each in "\${passed[@]}"; do echo passed >"$dir/done/$each"; done
}

run() {
  prepare
  [ -z "$from" ] || pass_until_from
  check_needs
  [ "$missing" = no ] || stop_with 1 "nothing was begun"
  trap 'on_signal INT' INT
  trap 'on_signal TERM' TERM
  trap 'on_signal HUP' HUP
  trap finish EXIT
  walk count
  if [ -e "$dir/outcome" ]; then
    outcome=$(cat "$dir/outcome")
    say "the teardown of this run has begun, only that goes on; a new run needs another --dir"
  elif [ "$only_teardown" = yes ]; then
    [ "$unfinished" = 0 ] || outcome=failure
  else
    phase=pre
    walk run
    phase='test'
    walk run
  fi
}

main() {
  dir=./$workflow-run from='' keep=no only_teardown=no is_listing=no
  signals=0 child='' phase='' outcome=success outcome_before_post='' unfinished=0 missing=no is_passing=no passed=()
  while [ $# -gt 0 ]; do
    case $1 in
      --dir | --from) [ $# -gt 1 ] || stop_with 64 "$1 needs a value"; if [ "$1" = --dir ]; then dir=$2; else from=$2; fi; shift ;;
      --keep) keep=yes ;;
      --teardown) only_teardown=yes ;;
      --list) is_listing=yes ;;
      -h | --help) usage; exit 0 ;;
      *) stop_with 64 "unknown option $1; --help has them all" ;;
    esac
    shift
  done
  case $dir in /*) ;; *) dir=$PWD/\${dir#./} ;; esac
  profile_dir=\${CLUSTER_PROFILE_DIR:-/var/run/secrets/ci.openshift.io/cluster-profile}
  if [ "$is_listing" = yes ]; then walk list; else run; fi
}

main "$@"
`

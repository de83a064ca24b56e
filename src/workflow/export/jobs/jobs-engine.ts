/**
 * The part of the driver that is the same for every workflow. The Jobs are its journal: what it has to know when it is run
 * again, it asks the cluster.
 *
 * What it calls is written for each workflow: `all_steps`, `manifest_of`, `scripts_of`, `claim`, `check_needs` and `store_given`.
 */
export const jobsEngine = `
usage() {
  cat <<END
Runs the workflow $workflow as Jobs of Kubernetes, one after the other.

  bash $0 [-n NAMESPACE] [--keep] [--retry]  run it; run again, it goes on where it stopped
  bash $0 [-n NAMESPACE] --teardown          only the teardown (post) of what was begun
  bash $0 [-n NAMESPACE] --list              the steps, and what became of them
  bash $0 [-n NAMESPACE] --delete            forget the run: its Jobs, its scripts, and the files of its claim
  bash $0 --print                            all objects, as YAML

  --keep   a run that fails keeps what it made: no teardown until --teardown
  --retry  steps of pre and test that failed are run again
END
}

say() { printf '%s %s\\n' "$(date -u +%H:%M:%SZ)" "$*" >&2; }
stop_with() { printf 'error: %s\\n' "$2" >&2; exit "$1"; }

# --- the cluster ---

# ask ARGUMENTS...: kubectl, again and again while the API server does not answer.
ask() {
  local tries=0
  until "\${kube[@]}" "$@"; do
    tries=$((tries + 1))
    [ "$tries" -lt 20 ] || return 1
    pause
  done
}

pause() { sleep "\${SALLYPORT_POLL_SECONDS:-5}" & wait $!; }

# create_once KIND NAME: what standard input has, unless it is there.
create_once() {
  local found manifest
  manifest=$(cat; printf x)
  found=$(ask get "$1" "$2" --ignore-not-found -o name) || return 1
  [ -n "$found" ] || printf %s "\${manifest%x}" | "\${kube[@]}" create -f - >/dev/null
}

# state_of JOB: absent, active, Complete or Failed.
state_of() {
  local found
  found=$(ask get job "$1" --ignore-not-found \\
    -o 'jsonpath={.metadata.name}{range .status.conditions[?(@.status=="True")]} {.type} {end}') || return 1
  case $found in
    *' Complete '*) echo Complete ;;
    *' Failed '*) echo Failed ;;
    '') echo absent ;;
    *) echo active ;;
  esac
}

# run_job NUMBER JOB: 0 where it completes, 1 where it fails, 2 where the cluster does not answer.
run_job() {
  local state
  state=$(state_of "$2") || return 2
  if [ "$state" = Failed ] && { [ "$phase" = post ] || [ "$retry" = yes ]; }; then
    ask delete job "$2" --ignore-not-found --cascade=foreground >/dev/null || return 2
    state=absent
  fi
  if [ "$state" = absent ]; then
    [ "$phase" = post ] || [ "$signals" = 0 ] || return 1
    say "begin  $2"
    scripts_of "$1" || return 2
    manifest_of "$1" | create_once job "$2" || return 2
  fi
  current=$2
  while state=$(state_of "$2") || return 2; do
    case $state in
      Complete) current=''; return 0 ;;
      Failed | absent) current=''; return 1 ;;
      *) pause ;;
    esac
  done
}

on_signal() {
  signals=$((signals + 1))
  if [ "$phase" = post ] && [ "$signals" = 1 ]; then
    say "SIG$1: the teardown goes on; once more ends the step that runs"
  elif [ -n "$current" ]; then
    # The Job ends as failed, its pod with its grace period, and both can still be looked at.
    say "SIG$1: the step that runs is asked to end; what comes next is the teardown"
    "\${kube[@]}" patch job "$current" --type=merge -p '{"spec":{"activeDeadlineSeconds":1}}' >/dev/null
  fi
}

# --- the order ---

# visit PHASE NUMBER LABEL JOB FLAGS: all_steps calls it for every step.
visit() {
  case $visitor in
    run) run_one "$@" ;;
    list) printf '%-9s %s\\n' "$(state_of "$4")" "$3" ;;
    count) [ "$1" = post ] || [ "$(state_of "$4")" = Complete ] || unfinished=$((unfinished + 1)) ;;
    print) echo ---; print_scripts_of "$2"; echo ---; manifest_of "$2" ;;
  esac
}

run_one() {
  [ "$1" = "$phase" ] || return 0
  [ "$phase" = post ] || [ "$outcome" = success ] || return 0
  if [[ $5 == *optional-on-success* ]] && [ "$outcome_before_post" = success ]; then
    say "skip   $3: everything before the teardown went well"
    return 0
  fi
  local status
  run_job "$2" "$4"
  status=$?
  case $status in
    0) say "done   $3" ;;
    2) has_cluster=no; exit 1 ;;
    *)
      if [[ $5 == *best-effort* ]] && [ "$signals" = 0 ]; then
        say "failed $3, which is allowed to: \${kube[*]} logs job/$4"
      else
        say "failed $3: \${kube[*]} logs job/$4"
        outcome=failure
      fi
      ;;
  esac
}

walk() { visitor=$1; all_steps; }

# However this script ends, the teardown follows; after SIGKILL, when it is run again.
finish() {
  local status=$? interrupted=$signals recorded
  [ "$has_cluster" = yes ] || { say "the cluster does not answer: run again, it goes on where it stopped"; trap - EXIT; exit 1; }
  if [ "$phase" = post ]; then trap - EXIT; exit "$status"; fi
  [ "$status" = 0 ] || outcome=failure
  recorded=$(recorded_outcome)
  if [ "$keep" = yes ] && [ "$outcome" = failure ] && [ -z "$recorded" ]; then
    say "kept: run again with --retry to go on, or with --teardown to take everything away"
  else
    [ -n "$recorded" ] || "\${kube[@]}" annotate pvc "$run_name" "sallyport/outcome=$outcome" >/dev/null
    outcome_before_post=$outcome phase=post signals=0
    walk run
  fi
  trap - EXIT
  if [ "$outcome" = success ]; then say "complete: $workflow"; else say "failed: $workflow"; fi
  [ "$interrupted" = 0 ] && [ "$signals" = 0 ] || exit 130
  [ "$outcome" = success ] || exit 1
  exit 0
}

recorded_outcome() { ask get pvc "$run_name" --ignore-not-found -o 'jsonpath={.metadata.annotations.sallyport/outcome}'; }

# --- the command line ---

print_all() { claim; walk print; }

delete_run() {
  ask delete job,configmap,pvc -l "sallyport/run=$run_name" --cascade=foreground
}

run() {
  check_needs
  [ "$missing" = no ] || stop_with 1 "nothing was begun"
  claim | create_once pvc "$run_name" || stop_with 1 "the claim cannot be made"
  store_given || stop_with 1 "the values cannot be stored"
  trap 'on_signal INT' INT
  trap 'on_signal TERM' TERM
  trap 'on_signal HUP' HUP
  trap finish EXIT
  local recorded
  recorded=$(recorded_outcome) || { has_cluster=no; exit 1; }
  if [ -n "$recorded" ]; then
    outcome=$recorded
    say "the teardown of this run has begun, only that goes on; --delete forgets the run"
  elif [ "$only_teardown" = yes ]; then
    walk count
    [ "$unfinished" = 0 ] || outcome=failure
  else
    phase=pre
    walk run
    phase='test'
    walk run
  fi
}

need_variable() {
  [ -n "\${!1+set}" ] && return 0
  printf 'missing: the variable %s, for %s\\n' "$1" "$2" >&2
  missing=yes
}

main() {
  kube=(kubectl) action=run keep=no retry=no only_teardown=no
  signals=0 current='' phase='' outcome=success outcome_before_post='' unfinished=0 missing=no has_cluster=yes
  while [ $# -gt 0 ]; do
    case $1 in
      -n | --namespace) [ $# -gt 1 ] || stop_with 64 "$1 needs a value"; kube+=(--namespace "$2"); shift ;;
      --keep) keep=yes ;;
      --retry) retry=yes ;;
      --teardown) only_teardown=yes ;;
      --list) action=list ;;
      --delete) action=delete ;;
      --print) action=print ;;
      -h | --help) usage; exit 0 ;;
      *) stop_with 64 "unknown option $1; --help has them all" ;;
    esac
    shift
  done
  case $action in
    run) run ;;
    list) walk list ;;
    delete) delete_run ;;
    print) print_all ;;
  esac
}

main "$@"
`

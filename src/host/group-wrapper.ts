/**
 * What stands between this program and a program that it runs as a process group, in the words of any POSIX shell.
 *
 * - File 0 is held open by who started it: at its end nobody is there any more, and the watcher ends the group.
 * - Output goes through `cat`: scripts write to /dev/stderr, which cannot be opened where it is a socket, as Node makes them.
 *   When nobody reads any more, output goes nowhere, so that a script can clean up and speak.
 * - File 3 hears `started` when signals reach the program and are not lost between a fork and its end, and then its status.
 *   That is written to a file first, as soon as it is known.
 * - What the program leaves behind has its own grace. It is over when there are only the wrapper and the watcher in the group,
 *   where /proc says so: a run that goes on waits for it.
 *
 * The program is run in the foreground: a shell lets its background jobs ignore SIGINT. It is in a shell of its own, because what a
 * shell says of a signal that ended its program is no output of that program.
 */
export const groupWrapper = `
__sp_file=$1 __sp_grace=$2 __sp_rest=$3
shift 3
exec 4<&0 </dev/null
trap : HUP INT QUIT TERM
(
  trap '' HUP INT QUIT TERM
  read -r __sp_line <&4
  __sp_ended=
  trap '__sp_ended=1' USR1
  [ -z "$__sp_file" ] || : >"$__sp_file.orphaned"
  __sp_wait() {
    __sp_left=$1
    while [ "$__sp_left" -gt 0 ] && [ -z "$__sp_ended" ]; do
      command -p sleep 0.1 || command -p sleep 1
      __sp_left=$((__sp_left - 1))
    done
  }
  __sp_alone() {
    __sp_members=0
    for __sp_stat in /proc/[0-9]*/stat; do
      read -r __sp_line <"$__sp_stat" || continue
      set -- \${__sp_line##*) }
      [ "$3" != "$$" ] || [ "$1" = Z ] || __sp_members=$((__sp_members + 1))
    done
    [ "$__sp_members" -gt 0 ] && [ "$__sp_members" -le 2 ]
  }
  kill -s TERM -- -$$
  kill -s CONT -- -$$
  __sp_wait "$__sp_grace"
  __sp_ended=
  kill -s TERM -- -$$
  kill -s CONT -- -$$
  while [ "$__sp_rest" -gt 0 ] && [ -z "$__sp_ended" ] && ! __sp_alone; do
    __sp_wait 1
    __sp_rest=$((__sp_rest - 1))
  done
  kill -s KILL -- -$$
) >/dev/null 2>&1 3>&- &
__sp_watcher=$!
{
  trap : HUP INT QUIT TERM
  (echo started >&3; exec 2>&1 3>&- 4<&-; exec "$@")
  __sp_status=$?
  if [ -n "$__sp_file" ]; then
    __sp_word=$__sp_status
    [ ! -e "$__sp_file.orphaned" ] || __sp_word="$__sp_status orphaned"
    if echo "$__sp_word" >"$__sp_file.new"; then
      command -p sync "$__sp_file.new" >/dev/null
      command -p mv -f "$__sp_file.new" "$__sp_file"
    fi
  fi
  echo "$__sp_status" >&3
} | (
  trap '' HUP INT QUIT TERM
  command -p cat 3>&- 4<&- || exec cat >/dev/null 3>&- 4<&-
)
kill -s USR1 "$__sp_watcher"
wait "$__sp_watcher"
wait "$__sp_watcher"
`

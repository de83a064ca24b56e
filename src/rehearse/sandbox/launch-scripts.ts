/**
 * What runs inside the new namespaces, before the scripts of the bootstrap host do.
 *
 * First a mount namespace in which nothing is left of the machine but its programs and libraries, read-only, at `/.host`;
 * then a second user namespace, so that not even that can be undone: mounts that come from a namespace with more rights
 * are locked (user_namespaces(7), mount_namespaces(7) "Restrictions on mount namespaces").
 */

/** Folders of the sandbox that belong to the rehearsal. */
export const standInFolder = '/run/sallyport'

/** Top folders that hold programs and libraries, where the machine has not merged them into /usr. */
export const programFolders = ['bin', 'sbin', 'lib', 'lib64', 'lib32'] as const

const host = '/.host/usr/bin:/.host/usr/sbin:/.host/bin:/.host/sbin'

/** Arguments: the root, the folder of replies, `--`, and the command. */
export const outerScript = `
set -eu
root=$1; replies=$2; shift 3
mount --make-rprivate /
mount --bind "$root" "$root"
cd "$root"
read_only() {
  for flags in ro ro,nosuid ro,nodev ro,nosuid,nodev ro,nosuid,nodev,noexec; do
    mount -o "remount,bind,$flags" "$1" 2>/dev/null && return 0
  done
  echo "sallyport: $1 cannot be made read-only" >&2
  exit 70
}
for folder in usr ${programFolders.join(' ')}; do
  [ -d ".host/$folder" ] || continue
  mount --bind "/$folder" ".host/$folder"
  read_only ".host/$folder"
done
mount --bind "$replies" ".${standInFolder}/replies"
read_only ".${standInFolder}/replies"
mount -t proc proc proc
mount -t tmpfs -o mode=755,size=1m tmpfs dev
for device in null zero full random urandom; do
  : > "dev/$device"
  mount --bind "/dev/$device" "dev/$device"
done
ln -s /proc/self/fd dev/fd
ln -s /proc/self/fd/0 dev/stdin
ln -s /proc/self/fd/1 dev/stdout
ln -s /proc/self/fd/2 dev/stderr
old=$(mktemp -d .old.XXXXXX)
pivot_root . "$old"
export PATH=${host}
cd /
umount -l "/$old"
rmdir "/$old"
exec unshare --user --map-root-user --mount -- "$@"
`

/**
 * One stand-in for every program: it tells the rehearsal how it was called, and does what the answer says. The answer is a
 * script that the rehearsal wrote; it runs in here, where it can harm nothing.
 *
 * A named pipe that is open for reading and writing never lets the other side wait (fifo(7)).
 */
export const standInProgram = `#!/usr/bin/bash
if [ -n "\${SALLYPORT_AS-}" ]; then name=$SALLYPORT_AS; unset SALLYPORT_AS; else name=\${0##*/}; fi
id=\${SALLYPORT_RUN:-0}.$BASHPID
call=${standInFolder}/calls/$id
if [ "$name" = jq ]; then
  if [ $# -gt 1 ] && [ -f "\${!#}" ]; then cat -- "\${!#}"; else cat; fi > "$call.input"
else
  for word in "$@"; do if [ "$word" = - ]; then cat > "$call.input"; break; fi; done
fi
printf '%s\\0' "$name" "$PWD" "\${SALLYPORT_UNIT-}" "$@" > "$call.args"
mkfifo "$call.answer" || exit 70
exec 9<>"$call.answer"
printf '%s\\n' "$id" > ${standInFolder}/calls/all
read -r _ <&9
exec 9>&-
. "${standInFolder}/replies/$id"
`

/** Read by every bash of the sandbox (BASH_ENV): what no program is there for is called a stand-in too. */
export const bashEnvironment = `
command_not_found_handle() { SALLYPORT_AS=$1 exec ${standInFolder}/stand-in "\${@:2}"; }
`

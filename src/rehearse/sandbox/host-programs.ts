/** Programs of the machine that scripts in the sandbox may really run: they work on files and text, and on nothing else. */
export const hostPrograms: readonly string[] = `
  [ awk base64 basename bash bunzip2 bzip2 cat chmod cmp comm cp csplit cut date dd df diff dirname du echo egrep env expand expr
  false fgrep find flock fmt fold gawk grep gunzip gzip head id install join jq less ln ls mawk md5sum mkdir mkfifo mktemp mv nl nohup
  nproc od openssl paste patch pr printenv printf pwd readlink realpath rm rmdir sed seq sh sha1sum sha256sum sha512sum shuf sort
  split stat stdbuf sum sync tac tail tar tee test timeout touch tr true truncate tsort tty uniq unlink wc which who whoami
  xargs xz yes zcat zstd`
  .split(/\s+/)
  .filter((name) => name !== '')

/** Without these no script of a bootstrap host gets anywhere. */
export const neededPrograms: readonly string[] = ['bash', 'cat', 'date', 'grep', 'mkdir', 'mkfifo', 'mv', 'sed', 'tr']

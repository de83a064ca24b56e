/** For the owner alone, whatever the umask: an image may hold what others must not read. */
export const privateFile = 0o600
export const privateDirectory = 0o700

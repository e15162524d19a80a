/**
 * Where this machine's name servers are listed. The first may name only 127.0.0.53, a program of this machine that asks
 * the name servers in another one. Not all exist everywhere.
 */
export const RESOLV_CONFS = [
  '/etc/resolv.conf',
  '/run/systemd/resolve/resolv.conf',
  '/run/NetworkManager/no-stub-resolv.conf',
] as const

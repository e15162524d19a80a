/** The bit of CAP_NET_ADMIN among the capabilities of a process. */
const NET_ADMIN = 12n

/** @param status the text of /proc/PID/status */
export function canAdminister(status: string): boolean {
  const [, effective] = /^CapEff:\s*([0-9a-f]+)$/m.exec(status) ?? []
  return effective !== undefined && (BigInt(`0x${effective}`) & (1n << NET_ADMIN)) !== 0n
}

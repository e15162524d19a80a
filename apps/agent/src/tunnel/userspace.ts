import { existsSync, readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { basename } from 'node:path'
import { codeOf } from '@postern/host/errors'

/** Ends the wireguard-go of this interface, in this network. The interface goes with it, and is made anew. */
export function endUserspaceTunnel(name: string): void {
  const network = readlinkSync('/proc/self/ns/net')
  for (const pid of readdirSync('/proc').filter((entry) => /^\d+$/.test(entry))) {
    if (isTunnel(pid, name, network)) process.kill(Number(pid), 'SIGKILL')
  }
}

function isTunnel(pid: string, name: string, network: string): boolean {
  try {
    const args = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').filter(Boolean)
    const isOurs = basename(args[0] ?? '') === 'wireguard-go' && args.at(-1) === name
    return isOurs && readlinkSync(`/proc/${pid}/ns/net`) === network
  } catch (error) {
    // It has ended, or it is of another user.
    if (!existsSync(`/proc/${pid}`) || ['EACCES', 'ENOENT', 'EPERM', 'ESRCH'].includes(codeOf(error) ?? ''))
      return false
    throw error
  }
}

import { existsSync, readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { connect } from 'node:net'
import { basename } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { codeOf } from './errors.ts'

const CHECK_INTERVAL = 1000
/** The longest wait for wireguard-go, which answers within a millisecond. */
const PATIENCE = 2000
/** It hangs when so many questions in a row got no answer. */
export const MOST_UNANSWERED = 2

/**
 * Asks wireguard-go each second whether it answers, until the signal. WireGuard in the kernel needs no such check.
 * @param onLook how many questions in a row got no answer; 0 when there is no tunnel
 */
export async function watchUserspaceTunnel(
  name: string,
  onLook: (unanswered: number) => Promise<void>,
  signal: AbortSignal,
): Promise<void> {
  let unanswered = 0
  while (!signal.aborted) {
    await pause(CHECK_INTERVAL, undefined, { signal }).catch(() => undefined)
    if (signal.aborted) return
    unanswered = (await isSilent(name)) ? unanswered + 1 : 0
    await onLook(unanswered)
    if (unanswered >= MOST_UNANSWERED) unanswered = 0
  }
}

function isSilent(name: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(`/var/run/wireguard/${name}.sock`)
    const end = (silent: boolean) => {
      socket.destroy()
      resolve(silent)
    }
    socket.setTimeout(PATIENCE, () => end(true))
    socket.on('error', () => end(false))
    socket.on('data', () => end(false))
    socket.on('close', () => end(false))
    socket.write('get=1\n\n')
  })
}

/**
 * Ends the wireguard-go of this interface. The interface goes with it, and is then made anew.
 * @param network the network namespace that the interface is in
 */
export function endUserspaceTunnel(name: string, network = readlinkSync('/proc/self/ns/net')): void {
  for (const pid of readdirSync('/proc').filter((entry) => /^\d+$/.test(entry))) {
    if (isTunnel(pid, name, network)) kill(Number(pid))
  }
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch (error) {
    // It has ended meanwhile.
    if (codeOf(error) !== 'ESRCH') throw error
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

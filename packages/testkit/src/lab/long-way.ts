import { fileURLToPath } from 'node:url'
import { whenStarted } from '../processes/started.ts'
import type { Lab } from './network.ts'

const DELAY = fileURLToPath(new URL('../programs/delay.ts', import.meta.url))
const PORT = 40_000
const TUNNEL_PORT = 51_820
/** The user whose packets are not delayed. */
const NOBODY = 65_534

/** Puts the site's host far from the server: its packets into the tunnel take `ms`, and so do those that come back. */
export async function makeWayLong({ site, server }: Lab, ms: number, dir: string): Promise<void> {
  const user = ['setpriv', `--reuid=${NOBODY}`, '--clear-groups']
  const relay = [process.execPath, DELAY, String(PORT), server.address, String(TUNNEL_PORT), String(ms)]
  const program = site.start([...user, ...relay], { logFile: `${dir}/delay.log` })
  await whenStarted(program, 'the delay', async () => {
    const { stdout } = await site.run('ss', '-Hlun', `sport = :${PORT}`)
    return stdout.trim() !== ''
  })
  const rules = [
    'add table ip delay',
    'add chain ip delay out { type nat hook output priority -100; }',
    `add rule ip delay out udp dport ${TUNNEL_PORT} meta skuid != ${NOBODY} redirect to :${PORT}`,
  ]
  await site.must('nft', rules.join('; '))
}

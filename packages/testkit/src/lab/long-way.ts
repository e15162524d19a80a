import { fileURLToPath } from 'node:url'
import { whenStarted } from '../started.ts'
import type { Lab } from './network.ts'

const DELAY = fileURLToPath(new URL('../programs/delay.ts', import.meta.url))
const PORT = 40_000
const TUNNEL_PORT = 51_820
/** Whose packets go out as they are. */
const NOBODY = 65_534

/** Puts the site's host far from the server: what it sends into the tunnel takes `ms`, and so does what comes back. */
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

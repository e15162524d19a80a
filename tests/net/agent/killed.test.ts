import { readFile } from 'node:fs/promises'
import { shared } from '@postern/testkit/shared'
import { until } from '@postern/testkit/until'
import { beforeAll, expect, test } from 'vitest'
import { TOKEN } from './edge-end.ts'
import { createLab } from './lab.ts'

const DIE_AT = new URL('../../../apps/edge/test/die-at.ts', import.meta.url).href

const lab = shared(createLab)
beforeAll(async () => {
  await lab.change({ config: { targets: { tcp: [22], udp: [53] } } })
})

/** The command decides; the daemon's file spares starting it while there is nothing to decide. */
const isOnline = async () => {
  const output = await readFile(`${lab.configDir}/run/status.json`, 'utf8').catch(() => '')
  return output.includes('"online"') && (await lab.status()).code === 0
}
const rules = () => lab.node.must('nft', '-s', 'list', 'ruleset')
const routesToLoopback = async () =>
  (await lab.node.run('cat', `/proc/sys/net/ipv4/conf/${lab.links.agent}/route_localnet`)).stdout.trim()

test('an agent killed before any step opens nothing, the next one reaches the same state, and disconnecting leaves nothing', async () => {
  await lab.connect('--token', TOKEN, '--fingerprint', lab.authority.fingerprint)
  await until('the agent to be online', isOnline)
  const whole = await rules()
  expect(whole).toContain('dnat ip to 127.0.0.1')
  let steps = 0
  for (let wasKilled = true; wasKilled; steps++) {
    expect((await lab.agent(['disconnect'])).code).toBe(0)
    expect(await rules()).toBe('')
    const dying = lab.startDaemon(`--import=${DIE_AT}?steps=${steps}`)
    await until('the agent to be online or killed', async () => !dying.isRunning() || (await isOnline()))
    wasKilled = !dying.isRunning()
    if ((await routesToLoopback()) === '1') expect(await rules()).toContain('ip daddr 127.0.0.0/8 drop')
    await dying.stop()
    const next = lab.startDaemon()
    await until('the next agent to be online', isOnline)
    expect(await rules()).toBe(whole)
    expect(await routesToLoopback()).toBe('1')
    await next.stop()
  }
  expect(steps).toBeGreaterThan(8)
}, 600_000)

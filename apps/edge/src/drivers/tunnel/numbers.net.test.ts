import type { Exec } from '@postern/host/processes/exec'
import { dyingExec } from '@postern/testkit/processes/dying-exec'
import { shared } from '@postern/testkit/shared'
import { afterEach, expect, test } from 'vitest'
import { far, gateway, settings, site, startTunnelLab } from '../../../test/tunnel-lab.ts'

const lab = shared(startTunnelLab)
afterEach(() => lab.driver().remove())

const peers = [site, gateway, far]
const numbered = (number: number) => ({
  settings: { ...settings, edge: { number, servesConsole: false, isDrained: false } },
  peers,
})
/** With the source addresses of its routes. */
const world = async () => {
  const routes = [
    await lab.must('ip', 'route', 'show', 'dev', lab.interface),
    await lab.must('ip', '-6', 'route', 'show', 'dev', lab.interface),
  ].join('\n')
  return {
    ...(await lab.world()),
    sources: [...routes.matchAll(/^(\S+) .*src (\S+)/gm)].map((m) => m.slice(1)),
  }
}
const sourceTo = async (address: string) =>
  / src (\S+)/.exec(await lab.must('ip', 'route', 'get', address))?.[1]

test('an edge elsewhere sends from the address of its number, to nodes and to the networks of gateways', async () => {
  const { part, problems } = await lab.driver().apply(numbered(3))
  expect({ state: part.state, problems }).toEqual({ state: 'ok', problems: [] })
  const made = await world()
  expect(made.addresses).toEqual(['10.64.255.3/32', 'fd00:1:2::a40:ff03/128'])
  expect(made.routes).toEqual(['10.64.0.0/16', '192.168.7.0/24'])
  expect(made.sources).toEqual([
    ['10.64.0.0/16', '10.64.255.3'],
    ['192.168.7.0/24', '10.64.255.3'],
    ['fd00:1:2::/64', 'fd00:1:2::a40:ff03'],
    ['fd77::/64', 'fd00:1:2::a40:ff03'],
  ])
  for (const to of [site.address4, far.address4, '192.168.7.20'])
    expect(await sourceTo(to)).toBe('10.64.255.3')
  for (const to of [site.address6, 'fd77::20']) expect(await sourceTo(to)).toBe('fd00:1:2::a40:ff03')
  const commands: string[] = []
  const run: Exec['run'] = (program, args, options) => {
    commands.push([program, ...args].join(' '))
    return lab.exec.run(program, args, options)
  }
  await lab.driver({ ...lab.exec, run }).apply(numbered(3))
  expect(commands.filter((command) => / (add|del|set|replace|syncconf) /.test(command))).toEqual([])
})

test('its addresses and sources come right from any other state', async () => {
  const fresh = new Map<number, Awaited<ReturnType<typeof world>>>()
  for (const number of [1, 3, 4]) {
    await lab.driver().remove()
    await lab.driver().apply(numbered(number))
    fresh.set(number, await world())
  }
  const disturbances = [
    ['ip', 'addr', 'flush', 'dev', lab.interface],
    ['ip', 'route', 'replace', '10.64.0.0/16', 'dev', lab.interface, 'proto', 'static'],
    ['ip', 'route', 'del', '192.168.7.0/24', 'dev', lab.interface],
    ['ip', 'link', 'set', lab.interface, 'down'],
  ] as const
  for (const [index, number] of [3, 3, 3, 4, 1, 4].entries()) {
    const disturbance = disturbances[index]
    if (disturbance) await lab.must(...disturbance)
    await lab.driver().apply(numbered(number))
    expect(await world()).toEqual(fresh.get(number))
  }
  for (let call = 1, died = true; died; call++) {
    await lab.driver().apply(numbered(1))
    const dying = lab.driver(dyingExec(lab.exec, call)).apply(numbered(3))
    died = await dying.then(
      () => false,
      () => true,
    )
    await lab.driver().apply(numbered(3))
    expect(await world()).toEqual(fresh.get(3))
  }
})

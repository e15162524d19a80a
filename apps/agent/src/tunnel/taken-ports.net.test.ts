import { shared } from '@postern/testkit/shared'
import { tempDir } from '@postern/testkit/temp-dir'
import { beforeEach, expect, test } from 'vitest'
import { ask, startServicesLab, USER, wanting } from '../../test/services-lab.ts'

const dir = tempDir()
const lab = shared(() => startServicesLab(dir))
beforeEach(() => lab.services().remove())

const TAKEN = (proto: string, port: number, where: string) =>
  `A program of user 65534 holds ${proto} port ${port} ${where}. What is published stays with the program of root`

/** As most programs name it, and as Java does. */
const LOOPBACK = ['127.0.0.1', '::ffff:127.0.0.1']

test.each((['tcp', 'udp'] as const).flatMap((proto) => LOOPBACK.map((address) => [proto, address] as const)))(
  'no other user takes a published %s port from a program at %s, even at the other address',
  async (proto, loopback) => {
    const PROTO = proto.toUpperCase()
    const published = { tcp: [8005], udp: [8005] }
    const services = lab.services()
    const look = () => services.apply(wanting(published))
    const genuine = await lab.say(proto, loopback, 8005, 'genuine')
    expect(await look()).toEqual([])
    const thief = await lab.say(proto, '10.64.0.2', 8005, 'thief', USER)
    expect(await lab.atTunnel(proto, 8005)).toBe('genuine 10.64.0.1')
    expect(await look()).toEqual([TAKEN(PROTO, 8005, "at the tunnel's address")])
    // It gains nothing by waiting for a restart of the program or of the agent.
    await genuine.stop()
    await look()
    expect(await lab.atTunnel(proto, 8005)).toBe('ECONNREFUSED')
    const again = await lab.say(proto, loopback, 8005, 'genuine')
    expect(await lab.apply(published)).toEqual([TAKEN(PROTO, 8005, "at the tunnel's address")])
    expect(await lab.atTunnel(proto, 8005)).toBe('genuine 10.64.0.1')
    for (const program of [thief, again]) await program.stop()
    // The other way round.
    await look()
    const tunnel = await lab.say(proto, '10.64.0.2', 8005, 'genuine')
    await look()
    const second = await lab.say(proto, loopback, 8005, 'thief', USER)
    expect(await lab.atTunnel(proto, 8005)).toBe('genuine 10.64.0.1')
    expect(await look()).toEqual([TAKEN(PROTO, 8005, 'on 127.0.0.1')])
    await tunnel.stop()
    expect(await lab.atTunnel(proto, 8005)).toBe('ECONNREFUSED')
    // A port that nobody holds goes to the first program, as usual.
    await second.stop()
    await look()
    const user = await lab.say(proto, '10.64.0.2', 8005, 'user', USER)
    await look()
    expect(await lab.atTunnel(proto, 8005)).toBe('user 10.64.0.1')
    // Root may take it.
    const root = await lab.say(proto, loopback, 8005, 'root')
    expect(await look()).toEqual([TAKEN(PROTO, 8005, "at the tunnel's address")])
    expect(await lab.atTunnel(proto, 8005)).toBe('root 10.64.0.1')
    for (const program of [user, root]) await program.stop()
  },
)

const OTHER_USER = USER.map((word) => word.replace('65534', '65533'))

test.each(['tcp', 'udp'] as const)(
  'nobody gains a %s port by waiting for a restart of the agent, or until the service is enabled again',
  async (proto) => {
    const published = { tcp: [8007], udp: [8007] }
    const none = { tcp: [], udp: [] }
    const waits = `A program of user 65533 holds ${proto.toUpperCase()} port 8007 on 127.0.0.1. What is published stays with the program of user 65534`
    const before = lab.services()
    const genuine = await lab.say(proto, '10.64.0.2', 8007, 'genuine', USER)
    await before.apply(wanting(published))
    const thief = await lab.say(proto, '127.0.0.1', 8007, 'thief', OTHER_USER)
    const services = lab.services()
    expect(await services.apply(wanting(published))).toEqual([waits])
    expect(await lab.atTunnel(proto, 8007)).toBe('genuine 10.64.0.1')
    expect(await services.apply(wanting(none))).toEqual([])
    expect(await lab.atTunnel(proto, 8007)).toBe('silence')
    expect(await services.apply(wanting(published))).toEqual([waits])
    expect(await lab.atTunnel(proto, 8007)).toBe('genuine 10.64.0.1')
    // Nor while it is not published and its program restarts.
    await services.apply(wanting(none))
    await genuine.stop()
    await services.apply(wanting(none))
    const again = await lab.say(proto, '10.64.0.2', 8007, 'genuine', USER)
    expect(await services.apply(wanting(published))).toEqual([waits])
    expect(await lab.atTunnel(proto, 8007)).toBe('genuine 10.64.0.1')
    await again.stop()
    expect(await lab.atTunnel(proto, 8007)).toBe('ECONNREFUSED')
    await thief.stop()
  },
)

test.each(
  (['tcp', 'udp'] as const).flatMap((proto) =>
    ['127.0.0.1', '0.0.0.0'].map((address) => [proto, address] as const),
  ),
)(
  'no other user takes the IPv6 traffic to a published %s port of a program at %s',
  async (proto, address) => {
    const services = lab.services()
    const look = () => services.apply(wanting({ tcp: [8008], udp: [8008] }))
    const byIpv6 = () => ask(lab.edge, proto, 'fd64::2', 8008)
    const genuine = await lab.say(proto, address, 8008, 'genuine')
    await look()
    const thief = await lab.say(proto, 'fd64::2', 8008, 'thief', USER)
    // Before the next look too.
    expect(await byIpv6()).toBe('silence')
    expect(await look()).toEqual([TAKEN(proto.toUpperCase(), 8008, "at the tunnel's address")])
    expect(await byIpv6()).toBe('silence')
    expect(await lab.atTunnel(proto, 8008)).toBe('genuine 10.64.0.1')
    // Nor while the other program restarts.
    await genuine.stop()
    await look()
    expect(await byIpv6()).toBe('silence')
    await thief.stop()
  },
)

test('a UDP program that listens on IPv6 is reached over it, and again as soon as it is restarted', async () => {
  const services = lab.services()
  const look = () => services.apply(wanting({ tcp: [], udp: [8009] }))
  for (const address of ['::', 'fd64::2']) {
    const loopback = address === '::' ? undefined : await lab.say('udp', '127.0.0.1', 8009, 'genuine')
    const genuine = await lab.say('udp', address, 8009, 'genuine')
    expect(await look()).toEqual([])
    expect(await ask(lab.edge, 'udp', 'fd64::2', 8009)).toBe('genuine fd64::1')
    await genuine.stop()
    if (!loopback) await look()
    const again = await lab.say('udp', address, 8009, 'again')
    expect(await ask(lab.edge, 'udp', 'fd64::2', 8009)).toBe('again fd64::1')
    for (const program of [again, loopback]) await program?.stop()
  }
})

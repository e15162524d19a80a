import { mkdirSync, readFileSync, rmdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import type { Exec } from '@postern/host/processes/exec'
import { shared } from '@postern/testkit/shared'
import { until } from '@postern/testkit/until'
import { afterEach, describe, expect, test } from 'vitest'
import { far, gateway, settings, site, startTunnelLab, TUNNEL_PORT } from '../../../test/tunnel-lab.ts'

const lab = shared(startTunnelLab)
afterEach(() => lab.driver().remove())

describe('the tunnel', () => {
  test('secrets are readable by root only and never in an argv', async () => {
    const argvs: string[] = []
    const spy: Exec = {
      ...lab.exec,
      run: (program, args, options) => {
        argvs.push(args.join(' '))
        return lab.exec.run(program, args, options)
      },
    }
    await lab.driver(spy).apply({ settings, peers: [site] })
    expect(argvs.join('\n')).not.toContain(settings.tunnelPrivateKey)
    expect(argvs.join('\n')).not.toContain(site.presharedKey)
    expect(statSync(`${lab.dir}/wireguard/${lab.interface}.conf`).mode & 0o777).toBe(0o600)
    expect(statSync(`${lab.dir}/wireguard`).mode & 0o777).toBe(0o700)
  })

  test('a new interface contacts the nodes at their last endpoints', async () => {
    const wanted = { settings, peers: [site, gateway] }
    await lab.driver().apply(wanted)
    await lab.must('wg', 'set', lab.interface, 'peer', site.publicKey, 'endpoint', '127.0.0.1:4444')
    await lab.driver().apply(wanted)
    await lab.driver().remove()
    await lab.driver().apply(wanted)
    expect(await lab.endpointOf(site.publicKey)).toBe('127.0.0.1:4444')
    expect(await lab.endpointOf(gateway.publicKey)).toBe('(none)')
    await until('the call', async () =>
      /\t[1-9]\d*$/m.test(await lab.must('wg', 'show', lab.interface, 'transfer')),
    )
    expect(await lab.must('wg', 'show', lab.interface, 'persistent-keepalive')).not.toMatch(/\d$/m)
    expect(statSync(lab.endpointsFile).mode & 0o777).toBe(0o600)
    await lab.driver().apply({ settings, peers: [gateway] })
    expect(readFileSync(lab.endpointsFile, 'utf8')).toBe('')
  })

  test('a node that has moved keeps the endpoint that WireGuard learned', async () => {
    const moved = '[::1]:5555'
    writeFileSync(lab.endpointsFile, `${site.publicKey}\t127.0.0.1:4444\n`)
    await lab.driver().apply({ settings, peers: [site] })
    await lab.must('wg', 'set', lab.interface, 'peer', site.publicKey, 'endpoint', moved)
    const next = { settings, peers: [{ ...site, presharedKey: far.presharedKey }, gateway] }
    await lab.driver().apply(next)
    expect(await lab.endpointOf(site.publicKey)).toBe(moved)
    await lab.driver().remove()
    await lab.driver().apply(next)
    expect(await lab.endpointOf(site.publicKey)).toBe(moved)
  })

  test('malformed endpoints do no harm, and a disk that fails is reported', async () => {
    const texts = ['127.0.0.1:0', '127.0.0.1:65536', '127.0.0.1', '::1:5', '[fe80::1%lo]:5', 'a.test:5', '']
    writeFileSync(lab.endpointsFile, `\0\n${texts.map((each) => `${site.publicKey}\t${each}`).join('\n')}`)
    expect((await lab.driver().apply({ settings, peers: [site] })).problems).toEqual([])
    expect(await lab.endpointOf(site.publicKey)).toBe('(none)')
    rmSync(lab.endpointsFile)
    mkdirSync(lab.endpointsFile)
    await lab.must('wg', 'set', lab.interface, 'peer', site.publicKey, 'endpoint', '127.0.0.1:4444')
    const { part, problems } = await lab.driver().apply({ settings, peers: [site] })
    rmdirSync(lab.endpointsFile)
    expect(part.state).toBe('ok')
    expect(problems[0]?.message).toContain("The nodes' endpoints cannot be kept: EISDIR")
  })

  test('an interface of another kind is left alone and reported', async () => {
    await lab.must('ip', 'link', 'add', lab.interface, 'type', 'bridge')
    await expect(lab.driver().apply({ settings, peers: [] })).rejects.toThrow(/another kind \(bridge\)/)
    await lab.must('ip', 'link', 'del', lab.interface)
  })

  test('a wireguard-go that ends at once is reported at once', async () => {
    const exec: Exec = {
      ...lab.exec,
      startDetached: (_program, _args, options) => lab.exec.startDetached('false', [], options),
    }
    const began = performance.now()
    await expect(lab.driver(exec).apply({ settings, peers: [] })).rejects.toThrow(
      /wireguard-go did not start; .*\.log says why/,
    )
    // A hundred ms on an idle machine; for one that hangs the edge waits 8 s.
    expect(performance.now() - began).toBeLessThan(4000)
  })

  test('without the right to change the network it says so', async () => {
    const unprivileged: Exec = {
      ...lab.exec,
      run: (program, args, options) =>
        lab.exec.run(
          'setpriv',
          ['--bounding-set=-net_admin', '--inh-caps=-net_admin', program, ...args],
          options,
        ),
    }
    await expect(lab.driver(unprivileged).apply({ settings, peers: [] })).rejects.toMatchObject({
      code: 'part_missing',
    })
  })
})

test('a UDP port that another program holds is reported, and taken when it is free', async () => {
  const script = `require('node:dgram').createSocket('udp4').bind(${TUNNEL_PORT}, () => console.log('bound'))`
  const holder = await new Promise<{ stop(): void; ended: Promise<void> }>((resolve) => {
    const ended = Promise.withResolvers<void>()
    const program = lab.exec.stream(process.execPath, ['-e', script], {
      onLine: () => resolve({ ...program, ended: ended.promise }),
      onExit: () => ended.resolve(),
    })
  })
  await expect(lab.driver().apply({ settings, peers: [site] })).rejects.toThrow(
    `UDP port ${TUNNEL_PORT} is held by another program.`,
  )
  holder.stop()
  await holder.ended
  expect((await lab.driver().apply({ settings, peers: [site] })).part.state).toBe('ok')
  expect((await lab.world()).link).toContain(',UP,')
})

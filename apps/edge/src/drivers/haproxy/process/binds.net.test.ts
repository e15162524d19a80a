import { shared } from '@postern/testkit/shared'
import { expect, test } from 'vitest'
import { startLab } from '../../../../test/lab.ts'
import { listBinds, reservePorts } from './binds.ts'

const lab = shared(() => startLab())

const RESERVED = '/proc/sys/net/ipv4/ip_local_reserved_ports'

test("the range is reserved from this machine's own connections, besides what others reserve", async () => {
  await lab.exec.run('tee', [RESERVED], { timeoutMs: 5000, input: '8080,32650-32659' })
  const reserved = async () => (await lab.exec.readFile(RESERVED))?.trim()
  for (const _ of ['once', 'again']) {
    await reservePorts(lab.exec, { from: 32660, to: 32760 })
    expect(await reserved()).toBe('8080,32650-32760')
  }
  await reservePorts(lab.exec, { from: 40000, to: 40000 })
  expect(await reserved()).toBe('8080,32650-32760,40000')
})

test('each port of a range is listened at on its own', () => {
  const config = '  bind 127.0.0.1:80\n  bind [::1]:10-12 v6only\n  bind unix@/x/h1.sock mode 660\n'
  expect(listBinds(config)).toEqual([
    ['127.0.0.1', 80],
    ['::1', 10],
    ['::1', 11],
    ['::1', 12],
  ])
})

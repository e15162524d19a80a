import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, renameSync } from 'node:fs'
import { connect, createServer, type Server, type Socket } from 'node:net'
import { suspend } from '@postern/testkit/processes/suspend'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { makeRealCertificate } from '../../../../test/certificate.ts'
import { type HaproxyLab, makeHaproxyLab, makeLabRoute } from '../../../../test/haproxy-lab.ts'
import type { HaproxyDriver } from '../driver.ts'

let lab: HaproxyLab
let driver: HaproxyDriver
let fake: Server
const open = new Set<Socket>()
let bystander: ChildProcess
/** The impostor's answer to a command; undefined: HAProxy itself is asked. */
let say: (command: string) => string | undefined | null

beforeEach(async () => {
  say = () => undefined
  lab = await makeHaproxyLab()
  driver = await lab.open()
  await lab.apply([makeLabRoute(2, 1)])
  bystander = spawn('sleep', ['600'])
  fake = await standInFor(lab.paths.socket)
})

afterEach(async () => {
  bystander.kill('SIGKILL')
  await lab.close()
  for (const each of open) each.destroy()
  await new Promise((resolve) => fake.close(resolve))
})

/** `null` of `say`: the answer never comes. */
async function standInFor(path: string): Promise<Server> {
  renameSync(path, `${path}.real`)
  const server = createServer({ allowHalfOpen: true }, (from) => {
    open.add(from)
    from.on('error', () => undefined)
    from.on('close', () => open.delete(from))
    from.once('data', (command: Buffer) => {
      const answer = say(String(command))
      if (answer === null) return
      if (answer !== undefined) return from.end(answer)
      const to = connect(`${path}.real`, () => to.write(command))
      to.on('error', () => from.destroy()).pipe(from)
    })
  })
  await new Promise<void>((resolve) => server.listen(path, resolve))
  return server
}

describe('a HAProxy that was taken over', () => {
  test('cannot make the edge signal another process', async () => {
    const info = `Name: HAProxy\nVersion: 2.6.12\nPid: ${bystander.pid}\ndescription: postern-other\n`
    say = (command) => (command.startsWith('show info') ? info : undefined)
    const liar = await lab.pid()
    expect(await lab.apply([makeLabRoute(2, 1)])).toEqual([])
    expect([bystander.exitCode, bystander.signalCode]).toEqual([null, null])
    expect(await lab.pid()).not.toBe(liar)
    expect((await driver.check()).state).toBe('ok')
  })

  test("cannot make the edge delete the installation's certificate", async () => {
    say = (command) => (/ssl (cert|crt-list)/.test(command) ? 'No.\n' : undefined)
    await lab.apply([makeLabRoute(2, 1)], [await makeRealCertificate(5, ['s2.example.com'])])
    await lab.open()
    await lab.apply([makeLabRoute(2, 1)])
    expect(existsSync(lab.paths.certificate(0))).toBe(true)
  })

  test('cannot fill the report of the edge, which the server then would not take', async () => {
    say = (command) => (command.includes('show map') ? 'x'.repeat(1_000_000) : undefined)
    await lab.apply([makeLabRoute(2, 1)])
    expect(driver.state()).toMatchObject({
      state: 'failed',
      detail: expect.stringMatching(/^HAProxy .{0,500}$/),
    })
    say = (command) => {
      const info = `Name: HAProxy\nVersion: ${'3'.repeat(1_000_000)}\nPid: ${process.pid}\n`
      return command.startsWith('show info') ? info : undefined
    }
    expect(JSON.stringify(await driver.check()).length).toBeLessThan(1000)
  })
})

describe('a HAProxy whose socket is silent', () => {
  test('is not ended while it works', async () => {
    const pid = await lab.pid()
    say = () => null
    for (let look = 0; look < 2; look++)
      expect(await driver.check()).toEqual({
        state: 'failed',
        detail: 'HAProxy is too busy to answer the edge; it still serves visitors',
      })
    expect(await lab.pid()).toBe(pid)
    say = () => undefined
    expect((await driver.check()).state).toBe('failed')
    expect(await lab.apply([makeLabRoute(2, 1)])).toEqual([])
    expect((await driver.check()).state).toBe('ok')
    expect(await lab.pid()).toBe(pid)
  })

  test('is replaced when it does not work either', async () => {
    const pid = await lab.pid()
    say = () => null
    await suspend(pid)
    await driver.check()
    expect(await lab.pid()).not.toBe(pid)
  })
})

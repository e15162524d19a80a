import { findIp, type Ip } from '@postern/net/ip'
import { fresh } from '@postern/testkit/shared'
import { expect, test } from 'vitest'
import { makeHaproxyLab, makeLabRoute } from '../../../../test/haproxy-lab.ts'
import { startUpstream } from '../../../../test/upstream.ts'
import { visit } from '../../../../test/visitor.ts'

const lab = fresh(() => makeHaproxyLab())
const driver = fresh(() => lab.open())
const upstream = fresh(() => startUpstream())

const ip = (text: string) => findIp(text) as Ip // an address of this file

test('a key leads to the route that HAProxy itself takes: the longest that it begins with', async () => {
  const at = (id: number, path: string) => makeLabRoute(id, upstream.port, { domain: 'a.example.com', path })
  await lab.apply([at(2, '/'), at(3, '/api'), makeLabRoute(4, upstream.port)])
  const find = async (key: string) => {
    const found = await driver.lookup.findRoute(key)
    return found && [found.key, found.line.service]
  }
  expect(await find('a.example.com/api/x/')).toEqual(['a.example.com/api/', '3'])
  expect(await find('a.example.com/apix/')).toEqual(['a.example.com/', '2'])
  expect(await find('a.example.com//')).toEqual(['a.example.com/', '2'])
  expect(await find('b.example.com/')).toBeUndefined()
  await expect(driver.lookup.findRoute('a.example.com/;del map x')).rejects.toThrow('cannot be asked')
})

test('it judges an address as HAProxy does', async () => {
  const lists = { allowedIps: ['127.0.0.0/8', '2001:db8::/32'], blockedIps: ['127.0.0.9'] }
  await lab.apply([
    makeLabRoute(2, upstream.port, lists),
    makeLabRoute(3, upstream.port, { blockedIps: ['127.0.0.1'] }),
  ])
  const route = await driver.lookup.findRoute('s2.example.com/')
  const list = await driver.lookup.findList(route?.line.list ?? '')
  expect(list?.judge(ip('127.0.0.1'))).toBe('allowed')
  expect(list?.judge(ip('127.0.0.9'))).toBe('blocked')
  expect(list?.judge(ip('203.0.113.1'))).toBe('not allowed')
  const other = await driver.lookup.findRoute('s3.example.com/')
  expect((await driver.lookup.findList(other?.line.list ?? ''))?.judge(ip('127.0.0.1'))).toBe('blocked')
  const status = async (host: string) => (await visit({ port: lab.httpsPort, host })).status
  expect([await status('s2.example.com'), await status('s3.example.com')]).toEqual([200, 403])
  expect(await driver.lookup.findList('unreadable')).toBeUndefined()
})

test('it knows which nodes are down for HAProxy', async () => {
  await lab.apply([])
  await driver.setNodeStates(
    new Map([
      [7, 'down'],
      [8, 'up'],
    ]),
  )
  expect([
    await driver.lookup.isDown('7'),
    await driver.lookup.isDown('8'),
    await driver.lookup.isDown('9'),
  ]).toEqual([true, false, false])
})

import { expect, it } from 'vitest'
import { readTyped } from './read-typed.ts'

it.each([
  ['disable grafana', 'disable', 'grafana'],
  [' Disable  my shop ', 'disable', 'my shop'],
  ['dis graf', 'disable', 'graf'],
  ['graf dis', 'disable', 'graf'],
  ['en grafana', 'enable', 'grafana'],
  ['disconnect nas', 'disable', 'nas'],
  ['connect node nas', 'enable', 'nas'],
  ['del wiki', 'delete', 'wiki'],
  ['remove service wiki', 'delete', 'wiki'],
  ['logs grafana', 'logs', 'grafana'],
  ['grafana logs', 'logs', 'grafana'],
  ['logs of grafana', 'logs', 'grafana'],
  ['logs of the blog', 'logs', 'blog'],
  ['requests of wiki', 'requests', 'wiki'],
  ['why is wiki not answering?', 'why', 'wiki'],
  ['why wiki.example.com?', 'why', 'wiki.example.com'],
  ['rotate token of nas', 'rotate', 'nas'],
  ['nas rotate token', 'rotate', 'nas'],
  ['edit wiki', 'edit', 'wiki'],
  ['open web', 'open', 'web'],
  ['copy address of wiki', 'copy', 'wiki'],
  ['wiki copy address', 'copy', 'wiki'],
  ['wiki copy', 'copy', 'wiki'],
  ['add service to site-07', 'add', 'site-07'],
  ['publish on site-07', 'add', 'site-07'],
])('"%s" is to %s "%s"', (typed, verb, text) => {
  expect(readTyped(typed)).toEqual({ verb, text, isAll: false, type: undefined })
})

it.each(['grafana', 'logstash', 'di', 'my app', 'web-1 of site', 'of', '', 'a logger', 'allegro shop'])(
  '"%s" is a name',
  (typed) => {
    expect(readTyped(typed)).toEqual({ verb: undefined, isAll: false, type: undefined, text: typed })
  },
)

it.each([
  ['all of site-07', undefined, 'site-07'],
  ['all 20 of site-07', undefined, 'site-07'],
  ['all services on site-07', undefined, 'site-07'],
  ['services of site-07', undefined, 'site-07'],
  ['all 20', undefined, '20'],
  ['disable all of site-07', 'disable', 'site-07'],
  ['disable all 20 services of site-07', 'disable', 'site-07'],
  ['all of site-07 disable', 'disable', 'site-07'],
  ['delete everything on site-07', 'delete', 'site-07'],
])('"%s" means all', (typed, verb, text) => {
  expect(readTyped(typed)).toEqual({ verb, text, isAll: true, type: undefined })
})

it('takes the type of a new service', () => {
  expect(readTyped('add tcp service to nas')).toMatchObject({ verb: 'add', type: 'tcp', text: 'nas' })
  expect(readTyped('expose http on nas')).toMatchObject({ verb: 'add', type: 'http', text: 'nas' })
  expect(readTyped('new udp service on nas')).toMatchObject({ verb: 'add', type: 'tcp', text: 'nas' })
})

it.each(['logs', 'disable ', 'logs of', 'rotate the', 'disable all of'])(
  '"%s" has yet to say of what',
  (typed) => {
    expect(readTyped(typed).verb).toBeDefined()
    expect(readTyped(typed).text).toBe('')
  },
)

it.each([
  ['disable services', 'services'],
  ['rotate token', 'token'],
  ['logs http', 'http'],
  ['logs log', 'log'],
])('in "%s" the word "%s" may be a name', (typed, text) => {
  expect(readTyped(typed).text).toBe(text)
})

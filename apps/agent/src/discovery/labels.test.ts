import { expect, test } from 'vitest'
import { LabelError, readLabels } from './labels.ts'

const read = (labels: Record<string, string>, ports: number[] = []) =>
  readLabels({ name: 'shop-grafana-1', labels, ports })

test('a container without our labels is ignored', () => {
  expect(read({})).toEqual([])
  expect(read({ 'com.docker.compose.service': 'grafana', 'traefik.enable': 'true', postern: 'x' })).toEqual(
    [],
  )
})

test('a domain and a port make an HTTP service, named after the compose service', () => {
  const labels = { 'com.docker.compose.service': 'grafana', 'postern.http.domain': ' grafana.example.com ' }
  const service = {
    key: 'shop-grafana-1/http',
    type: 'http',
    name: 'grafana',
    domain: 'grafana.example.com',
    backendPort: 3000,
  }
  expect(read({ ...labels, 'postern.http.port': '3000' })).toEqual([service])
  expect(read(labels, [3000])).toEqual([service])
  const more = {
    'postern.http.path': '/g',
    'postern.http.strip-path': 'true',
    'postern.http.protocol': 'https',
    'postern.name': 'Graphs',
  }
  expect(read({ ...labels, ...more }, [3000])).toEqual([
    { ...service, name: 'Graphs', pathLocation: '/g', stripPath: true, backendProto: 'https' },
  ])
})

test('all types at once, each with a name and a key of its own', () => {
  const services = read({
    'postern.name': 'Broker',
    'postern.http.domain': 'mq.example.com',
    'postern.http.port': '15672',
    'postern.tcp.port': '1883',
    'postern.tcp.public-port': '32001',
    'postern.tcp.domain': 'mq.example.com',
    'postern.tcp.tls': 'true',
    'postern.udp.port': '1884',
    'postern.allowed-ips': '10.0.0.0/8, 192.0.2.7',
  })
  const common = { allowedIps: ['10.0.0.0/8', '192.0.2.7'] }
  const domain = 'mq.example.com'
  const key = (type: string) => ({ key: `shop-grafana-1/${type}`, name: `Broker ${type}`, type })
  expect(services).toEqual([
    { ...key('http'), domain, backendPort: 15672, ...common },
    { ...key('tcp'), domain, backendPort: 1883, port: 32001, ssl: true, ...common },
    { ...key('udp'), backendPort: 1884, ...common },
  ])
})

test.each([
  [{ 'postern.http.port': '80' }, 'add postern.http.domain'],
  [{ 'postern.http.domain': 'a.example' }, 'its image exposes no port'],
  [{ 'postern.name': 'x' }, 'add postern.http.domain, postern.tcp.port or postern.udp.port'],
  [{ 'postern.tcp.public-port': '1' }, 'add postern.tcp.port'],
  [{ 'postern.udp.port': '0' }, 'postern.udp.port must be a port'],
  [{ 'postern.tcp.port': '65536' }, 'postern.tcp.port must be a port'],
  [{ 'postern.tcp.port': '08' }, 'postern.tcp.port must be a port'],
  [{ 'postern.tcp.port': '1e3' }, 'postern.tcp.port must be a port'],
  [{ 'postern.tcp.port': '1', 'postern.tcp.tls': 'yes' }, 'postern.tcp.tls must be true or false'],
  [
    { 'postern.http.domain': 'a', 'postern.http.port': '1', 'postern.http.protocol': 'h2' },
    'must be http or https',
  ],
  [
    { 'postern.http.domain': 'a', 'postern.http.port': '1', 'postern.http.strip-path': 'yes' },
    'postern.http.strip-path must be true or false',
  ],
  [{ 'postern.tcp.port': '1', 'postern.tcp.domain': 'x'.repeat(5000) }, 'is too long'],
  [{ 'postern.tcp.port': '1', 'postern.allowed-ips': ' ' }, 'postern.allowed-ips is empty'],
  [{ 'postern.tcp.port': '1', 'postern.allowed-ips': ',' }, 'postern.allowed-ips has an empty entry'],
  [
    { 'postern.tcp.port': '1', 'postern.blocked-ips': '10.0.0.0/8,' },
    'postern.blocked-ips has an empty entry',
  ],
])('%o is refused as a whole: %s', (labels, words) => {
  expect(() => read(labels as Record<string, string>)).toThrow(LabelError)
  expect(() => read(labels as Record<string, string>)).toThrow(words)
})

test('with a mistyped label nothing is published, because a typo in a list of addresses could open it to all', () => {
  const labels = { 'postern.tcp.port': '22', 'postern.allowed-ip': '10.0.0.0/8' }
  expect(() => read(labels)).toThrow(
    'Unknown label postern.allowed-ip. Known labels: postern.name, postern.all',
  )
})

test('with several exposed ports none is chosen', () => {
  expect(() => read({ 'postern.http.domain': 'a.example' }, [80, 443])).toThrow('its image exposes 80, 443')
})

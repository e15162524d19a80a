import { BYPASS_MESSAGES, MESSAGES } from '@postern/contract/messages'
import { startTestServer } from '@postern/testkit/server'
import { shared } from '@postern/testkit/shared'
import { beforeAll, expect, test } from 'vitest'

let gateway: number

const server = shared(startTestServer)
const client = shared(() => server.signIn())
beforeAll(async () => {
  const gatewayNetworks = [{ interface: 'eth0', subnet: '192.168.7.0/24' }]
  gateway = (await client.post('/api/nodes', { name: 'office', isGateway: true, gatewayNetworks })).json().id
  await client.post('/api/domains', { domain: 'taken.example.com', skipValidation: true })
  const form = {
    name: 'first one',
    domain: 'taken.example.com',
    pathLocation: '/a',
    backendHost: '192.168.7.2',
  }
  expect((await client.post(`/api/services/${gateway}/http`, form)).statusCode).toBe(201)
})

/** The errors of a form, by field. */
async function errorsOf(path: string, form: object): Promise<Record<string, string>> {
  const answer = await client.post(path, form)
  const errors: { field: string; message: string }[] = answer.json().errors ?? []
  return Object.fromEntries(errors.map(({ field, message }) => [field, message]))
}

test('the form of a node shows all errors at once, including those that need the database', async () => {
  const { address } = (await client.get(`/api/nodes/${gateway}`)).json()
  const form = {
    ...{ name: ' ', address, dns: 'resolver', keepalive: 'often', allowInternet: 'yes', isGateway: true },
    gatewayNetworks: [
      { interface: '-x', subnet: '10.9.9.0/24' },
      { interface: 'eth1', subnet: '8.8.8.0/24' },
      { interface: 'eth2', subnet: '192.168.7.128/25' },
      { interface: 'eth3', subnet: '192.168.1.1' },
      { subnet: '10.1.0.0/16' },
    ],
  }
  expect(await errorsOf('/api/nodes', form)).toEqual({
    name: MESSAGES.required,
    address: 'already belongs to “office”',
    dns: MESSAGES.dns,
    keepalive: MESSAGES.keepalive,
    allowInternet: 'must be a boolean',
    'gatewayNetworks.0.interface': MESSAGES.interfaceName,
    'gatewayNetworks.1.subnet': MESSAGES.privateSubnet,
    'gatewayNetworks.2.subnet': 'overlaps 192.168.7.0/24 of “office”',
    'gatewayNetworks.3.subnet': MESSAGES.subnet,
    'gatewayNetworks.4.interface': MESSAGES.required,
  })
})

test('the form of a domain does', async () => {
  const form = { ssl: 'homemade', skipValidation: 'no', authentication: 'no', allowedEmails: ['x'] }
  expect(await errorsOf('/api/domains', form)).toEqual({
    domain: MESSAGES.domainRequired,
    ssl: 'must be one of the allowed values',
    skipValidation: 'must be a boolean',
    authentication: 'must be a boolean',
    'allowedEmails.0': MESSAGES.email,
  })
  const taken = {
    domain: 'taken.example.com',
    ssl: 'certbot',
    skipValidation: true,
    allowedEmails: 'x@example.com',
  }
  expect(await errorsOf('/api/domains', taken)).toEqual({
    domain: 'taken.example.com already exists',
    ssl: MESSAGES.selfSignedOnly,
    allowedEmails: MESSAGES.array,
  })
})

test('the form of an HTTP service does', async () => {
  const url = `/api/services/${gateway}/http`
  const form = {
    ...{
      name: '',
      domain: 'taken.example.com',
      pathLocation: '/a',
      backendProto: 'ftp',
      backendPort: 70_000,
    },
    ...{ backendHost: '10.9.9.9', allowedIps: ['x'], blockedIps: '203.0.113.1', requireAuth: true },
    skipAuthRoutes: '/a\nGET=/x',
  }
  expect(await errorsOf(url, form)).toEqual({
    name: MESSAGES.required,
    pathLocation: 'taken.example.com/a already belongs to “first one”',
    backendProto: 'must be one of the allowed values',
    backendPort: MESSAGES.port,
    backendHost: 'must be inside the networks of office: 192.168.7.0/24',
    'allowedIps.0': MESSAGES.ipOrCidr,
    blockedIps: MESSAGES.array,
    requireAuth: MESSAGES.noAuthentication,
    skipAuthRoutes: `Line 2 ${BYPASS_MESSAGES.method}`,
  })
  expect(await errorsOf(url, { backendHost: 'a b', pathLocation: 'a', backendPort: '80' })).toEqual({
    name: MESSAGES.required,
    pathLocation: MESSAGES.servicePath,
    backendHost: MESSAGES.backendHost,
    backendPort: MESSAGES.port,
  })
  expect(await errorsOf(url, { name: 'x' })).toEqual({
    domain: MESSAGES.domainOrPath,
    backendHost: MESSAGES.required,
  })
})

test('the form of a token does', async () => {
  expect(await errorsOf(`/api/nodes/${gateway}/pats`, { name: ' ', expireAt: 'soon', scope: 'all' })).toEqual(
    {
      name: MESSAGES.required,
      expireAt: MESSAGES.date,
      scope: MESSAGES.unknownField,
    },
  )
})

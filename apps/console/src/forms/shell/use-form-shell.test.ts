import { MESSAGES } from '@postern/contract/messages'
import { NodeForm } from '@postern/contract/nodes'
import { HttpServiceForm } from '@postern/contract/services/http-service-form'
import { get } from 'react-hook-form'
import { expect, test } from 'vitest'
import { schemaResolver } from './use-form-shell.ts'

const OPTIONS = { fields: {}, shouldUseNativeValidation: false }

test('every error is under its own field, also inside rows', async () => {
  const values = { name: '', isGateway: true, gatewayNetworks: [{ interface: 'eth0', subnet: 'x' }] }
  const { errors } = await schemaResolver(NodeForm)(values, undefined, OPTIONS)
  expect(get(errors, 'name')).toMatchObject({ message: 'This field is required' })
  expect(get(errors, 'gatewayNetworks.0.subnet')).toMatchObject({ message: MESSAGES.subnet })
  expect(get(errors, 'gatewayNetworks.0.interface')).toBeUndefined()
})

test('an empty number takes the default of the schema', async () => {
  const form = { name: 'web', domain: 'app.example.com', backendPort: null }
  // A form holds null for an empty number, which the schema does not accept.
  const { values } = await schemaResolver(HttpServiceForm)(form as never, undefined, OPTIONS)
  expect(values).toMatchObject({ backendPort: 80, domain: 'app.example.com' })
})

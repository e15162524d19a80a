import { DomainForm } from '@postern/contract/domains'
import { NodeForm } from '@postern/contract/nodes'
import { HttpServiceFields, type Service, TcpServiceForm } from '@postern/contract/services/services'
import { stringify } from 'yaml'
import type * as z from 'zod/mini'
import type { Current } from './plan.ts'
import { kindOf } from './print.ts'

/**
 * The fields of a form in a record, without those that are as in an empty form.
 * @param start what a form needs at least; these fields are there whatever they are
 */
function formOf(schema: z.ZodMiniObject, record: object, start: object): Record<string, unknown> {
  const usual = schema.parse(start)
  const isUsual = (field: string, value: unknown) =>
    !(field in start) && JSON.stringify(value ?? []) === JSON.stringify(Reflect.get(usual, field) ?? [])
  const fields = Object.keys(schema.shape).flatMap((field) => {
    const value = Reflect.get(record, field)
    return value === undefined || isUsual(field, value) ? [] : [[field, value]]
  })
  return Object.fromEntries(fields)
}

/** Everything that a file can say of these, as YAML. */
export function renderManifest({ nodes, domains, services }: Current): string {
  const isOff = (row: { enabled: boolean }) => (row.enabled ? {} : { enabled: false })
  return stringify(
    {
      nodes: nodes
        .filter(({ isLocal }) => !isLocal)
        .map((node) => ({ ...formOf(NodeForm, node, { name: '-' }), ...isOff(node) })),
      domains: domains.map((domain) => formOf(DomainForm, domain, { domain: 'example.invalid' })),
      services: services
        .filter(({ system, source }) => !system && source === null)
        .map((service) => ({ ...serviceForm(service), ...isOff(service) })),
    },
    { lineWidth: 0, aliasDuplicateObjects: false },
  )
}

function serviceForm(service: Service) {
  const start = { name: '-', domain: 'example.invalid', backendPort: 1 }
  const form = formOf(service.type === 'http' ? HttpServiceFields : TcpServiceForm, service, start)
  const { name, proto: _, ...fields } = form
  return { name, node: service.nodeName, type: kindOf(service), ...fields }
}

import { escapeHtml, slugOf } from '../sections.ts'
import type { Schema } from './openapi.ts'

/** The address of a schema on the page. */
export const spotOfSchema = (name: string) => `schema-${slugOf(name)}`

/** The kind of a value in a few words, as HTML; other schemas are links. */
export function renderType(schema: Schema): string {
  const name = nameOf(schema)
  if (name !== undefined) return `<a href="#${spotOfSchema(name)}">${escapeHtml(name)}</a>`
  const parts = schema.anyOf ?? schema.oneOf
  if (parts) return [...new Set(parts.map(renderType))].join(' or ')
  if (schema.enum) return schema.enum.map((value) => code(value)).join(', ')
  if (schema.const !== undefined) return code(schema.const)
  if (schema.allOf) return schema.allOf.map(renderType).join(' and ')
  const types = typeof schema.type === 'string' ? [schema.type] : (schema.type ?? [])
  return types.length === 0 ? 'anything' : types.map((type) => renderPlain(type, schema)).join(' or ')
}

function renderPlain(type: string, { items, additionalProperties }: Schema): string {
  if (type === 'array') return `list of ${typeof items === 'object' ? renderType(items) : 'anything'}`
  if (type === 'object' && typeof additionalProperties === 'object')
    return `object of ${renderType(additionalProperties)}`
  return escapeHtml(type === 'string' ? 'text' : type)
}

/** The limits of a value, and what stands for it where it is left out. */
export function limitsOf(schema: Schema): string {
  const inner = (schema.anyOf ?? [schema]).find(({ type }) => type !== 'null') ?? schema
  const { minimum, maximum, minLength, maxLength, minItems, maxItems } = inner
  const range = (least: number | undefined, most: number | undefined, unit: string) => {
    if (least === undefined && most === undefined) return []
    if (most === undefined) return [`from ${least}${unit}`]
    return [least === undefined || least === 0 ? `up to ${most}${unit}` : `${least} to ${most}${unit}`]
  }
  const given = schema.default === undefined ? [] : [`by default ${code(schema.default)}`]
  return [
    ...range(minimum, maximum, ''),
    ...range(minLength, maxLength, ' characters'),
    ...range(minItems, maxItems, ' entries'),
    ...given,
  ].join(', ')
}

/** The name of another schema, if this only refers to it. */
export function nameOf({ $ref }: Schema): string | undefined {
  return $ref?.split('/').at(-1)
}

const code = (value: unknown) => `<code>${escapeHtml(JSON.stringify(value) ?? '')}</code>`

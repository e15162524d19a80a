/** What the documentation reads of `docs/openapi.json`, which `npm run openapi` writes. */
export interface OpenApi {
  paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  components: { schemas: Readonly<Record<string, Schema>> }
}

export interface Operation {
  operationId: string
  summary?: string
  tags?: readonly string[]
  security: readonly Readonly<Record<string, unknown>>[]
  'x-roles'?: readonly string[]
  'x-whole-installation'?: boolean
  parameters?: readonly Parameter[]
  requestBody?: { content: Content }
  responses: Readonly<Record<string, Answer>>
}

export interface Parameter {
  name: string
  in: 'path' | 'query'
  required?: boolean
  schema: Schema
}

export interface Answer {
  description?: string
  content?: Partial<Content>
  'x-events'?: Readonly<Record<string, Schema>>
}

type Content = Readonly<Record<'application/json', { schema: Schema }>>

/** JSON Schema, as far as the contract needs it. */
export interface Schema {
  $ref?: string
  type?: string | readonly string[]
  enum?: readonly unknown[]
  const?: unknown
  anyOf?: readonly Schema[]
  oneOf?: readonly Schema[]
  allOf?: readonly Schema[]
  items?: Schema | boolean
  properties?: Readonly<Record<string, Schema>>
  required?: readonly string[]
  additionalProperties?: Schema | boolean
  default?: unknown
  minimum?: number
  maximum?: number
  minLength?: number
  maxLength?: number
  minItems?: number
  maxItems?: number
}

import { globSync } from 'node:fs'
import { join } from 'node:path'
import * as z from 'zod/mini'

export type JsonSchema = Readonly<Record<string, unknown>>

/** Turns schemas of the contract into JSON Schema 2020-12; those with a name are written once, as `components`. */
export interface SchemaBook {
  /** @param io what a client sends, or what it gets; the latter is written first, and has the plain names */
  write(schema: z.core.$ZodType, io: 'input' | 'output'): JsonSchema
  /** By name, in order. */
  readonly components: Record<string, JsonSchema>
}

/** What begins the names of those that a client sends, where it also gets one of that name. */
const SENT = 'Sent'

/** Each schema that a module of the contract exports is known by the name of its export. */
export async function openSchemaBook(root: string): Promise<SchemaBook> {
  const names = z.registry<{ id: string }>()
  const taken = new Set<string>()
  for (const [name, schema] of await listExports(root)) {
    // Where two modules have the same word, the first one keeps it.
    if (names.has(schema) || taken.has(name)) continue
    taken.add(name)
    names.add(schema, { id: name })
  }
  const components = new Map<string, JsonSchema>()
  const write = (schema: z.core.$ZodType, io: 'input' | 'output'): JsonSchema => {
    // Inside an object, the schema itself becomes a definition too, if it has a name.
    const { properties, $defs = {} } = convert(z.object({ it: schema }), names, io)
    const defs = Object.entries($defs)
    const renamed = placesOf(defs, components)
    for (const [name, def] of defs) components.set(renamed.get(name) ?? name, rename(def, renamed))
    return rename(properties.it ?? {}, renamed)
  }
  return {
    write,
    get components() {
      return Object.fromEntries([...components].sort(([a], [b]) => (a < b ? -1 : 1)))
    },
  }
}

interface Converted {
  properties: Record<string, JsonSchema>
  $defs?: Record<string, JsonSchema>
}

function convert(
  schema: z.core.$ZodType,
  metadata: ReturnType<typeof z.registry<{ id: string }>>,
  io: 'input' | 'output',
): Converted {
  const json = z.toJSONSchema(schema, {
    metadata,
    io,
    unrepresentable: 'any',
    override: ({ zodSchema, jsonSchema }) => {
      delete jsonSchema.id
      // The library leaves it out where a blank means it too.
      if (io === 'input' && zodSchema instanceof z.core.$ZodDefault)
        jsonSchema.default = zodSchema._zod.def.defaultValue
      // A newer server may answer with more fields.
      if (io === 'output' && zodSchema instanceof z.core.$ZodObject && !zodSchema._zod.def.catchall)
        delete jsonSchema.additionalProperties
      // What every integer of JavaScript is within says nothing.
      if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum
      if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum
    },
  })
  // An object of one field, as it was made above.
  return json as unknown as Converted
}

/**
 * The names under which definitions are kept: their own, or another where a different one has that, or one that refers
 * to a different one.
 */
function placesOf(
  defs: readonly (readonly [string, JsonSchema])[],
  components: ReadonlyMap<string, JsonSchema>,
): Map<string, string> {
  const places = new Map(defs.map(([name]) => [name, name]))
  for (let isNew = true; isNew; ) {
    isNew = false
    for (const [name, def] of defs) {
      const known = components.get(name)
      if (places.get(name) !== name || known === undefined) continue
      if (JSON.stringify(known) === JSON.stringify(rename(def, places))) continue
      places.set(name, `${SENT}${name}`)
      isNew = true
    }
  }
  return places
}

function rename(value: JsonSchema, names: ReadonlyMap<string, string>): JsonSchema {
  const text = JSON.stringify(value, (key, each: unknown) =>
    key === '$ref' && typeof each === 'string'
      ? each.replace(
          /^#\/\$defs\/(.*)$/,
          (_, name: string) => `#/components/schemas/${names.get(name) ?? name}`,
        )
      : each,
  )
  // It was one before.
  return JSON.parse(text) as JsonSchema
}

async function listExports(root: string): Promise<[string, z.core.$ZodType][]> {
  const files = globSync('packages/contract/src/**/*.ts', { cwd: root })
    .filter((file) => !file.endsWith('.test.ts') && !file.includes('/endpoints/'))
    .sort()
  const modules = await Promise.all(files.map((file) => import(join(root, file))))
  return modules.flatMap((module) =>
    Object.entries<unknown>(module).flatMap(([name, value]): [string, z.core.$ZodType][] =>
      /^[A-Z][a-z]/.test(name) && value instanceof z.core.$ZodType ? [[name, value]] : [],
    ),
  )
}

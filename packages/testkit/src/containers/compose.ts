import { readFileSync } from 'node:fs'
import { parse } from 'yaml'
import * as z from 'zod/mini'

/**
 * A service of a compose file, as far as the kit can run it. It refuses unknown keys, so that nothing is overlooked.
 */
const words = z.union([z.string(), z.array(z.string())])
const text = z.union([z.string(), z.number(), z.boolean()])
const Healthcheck = z.strictObject({
  test: z.array(z.string()),
  interval: z.optional(z.string()),
  timeout: z.optional(z.string()),
  start_period: z.optional(z.string()),
  start_interval: z.optional(z.string()),
  retries: z.optional(z.number()),
})
export const ComposeService = z.strictObject({
  image: z.optional(z.string()),
  build: z.optional(z.unknown()),
  command: z.optional(words),
  entrypoint: z.optional(words),
  user: z.optional(text),
  group_add: z.optional(z.array(text)),
  environment: z.optional(z.union([z.record(z.string(), z.nullable(text)), z.array(z.string())])),
  /** `name:/path[:ro]`. */
  volumes: z.optional(z.array(z.string())),
  tmpfs: z.optional(words),
  devices: z.optional(z.array(z.string())),
  cap_add: z.optional(z.array(z.string())),
  cap_drop: z.optional(z.array(z.string())),
  security_opt: z.optional(z.array(z.string())),
  read_only: z.optional(z.boolean()),
  sysctls: z.optional(z.record(z.string(), text)),
  healthcheck: z.optional(Healthcheck),
  stop_grace_period: z.optional(z.string()),
  labels: z.optional(z.unknown()),
  // Keys for another network, Docker's daemon or its host, which have no effect in a namespace.
  ports: z.optional(z.array(z.string())),
  networks: z.optional(z.unknown()),
  depends_on: z.optional(z.unknown()),
  restart: z.optional(z.string()),
  container_name: z.optional(z.string()),
  hostname: z.optional(z.string()),
  logging: z.optional(z.unknown()),
  mem_limit: z.optional(text),
  pids_limit: z.optional(text),
  pull_policy: z.optional(z.string()),
})
export type ComposeService = z.infer<typeof ComposeService>

const ComposeFile = z.looseObject({ services: z.record(z.string(), ComposeService) })
export type ComposeFile = z.infer<typeof ComposeFile>

/**
 * Reads a compose file with the values that a person would set for its variables.
 * @throws for a key of a service that the kit does not know
 */
export function readCompose(file: string, variables: Record<string, string> = {}): ComposeFile {
  const known: unknown = parse(interpolate(readFileSync(file, 'utf8'), variables), { merge: true })
  return ComposeFile.parse(known)
}

/** `$$` is a dollar; `${NAME}`, `${NAME:-default}` and `${NAME:?message}` are variables. */
function interpolate(source: string, variables: Record<string, string>): string {
  return source.replace(
    /\$\$|\$\{(\w+)(?::([-?])([^}]*))?\}/g,
    (all, name?: string, kind?: string, rest = '') => {
      if (all === '$$' || name === undefined) return '$'
      const value = variables[name]
      if (value) return value
      if (kind === '?') throw new Error(`${name} is not set: ${rest}`)
      return kind === '-' ? rest : ''
    },
  )
}

export const asList = (value: string | string[] | undefined): string[] | undefined =>
  typeof value === 'string' ? value.split(/\s+/).filter(Boolean) : value

/** The environment of a service as pairs; an empty value counts. */
export function environmentOf({ environment = {} }: ComposeService): Record<string, string> {
  const pairs = Array.isArray(environment)
    ? environment.map((line) => {
        const [name = '', ...value] = line.split('=')
        return [name, value.join('=')]
      })
    : Object.entries(environment).map(([name, value]) => [name, String(value ?? '')])
  return Object.fromEntries(pairs)
}

/** A duration like `10s` or `1m30s`, in ms. */
export function parseDuration(value: string): number {
  const units: Record<string, number> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 }
  const parts = [...value.matchAll(/(\d+)(ms|s|m|h)/g)]
  if (parts.map(([all]) => all).join('') !== value || parts.length === 0)
    throw new Error(`not a duration: ${value}`)
  return parts.reduce((sum, [, count, unit = 's']) => sum + Number(count) * (units[unit] ?? 0), 0)
}

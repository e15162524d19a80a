import { DataPlane } from '@postern/contract/edge'

/** What the server says once it listens. `generatedAdmin`: only when it has just made the account's password. */
export interface ServerReady {
  generatedAdmin?: { username: string; password: string }
}

export function parseServerReady(message: unknown): ServerReady {
  const admin = fieldOf(message, 'generatedAdmin')
  const username = fieldOf(admin, 'username')
  const password = fieldOf(admin, 'password')
  if (typeof username !== 'string' || typeof password !== 'string') return {}
  return { generatedAdmin: { username, password } }
}

/** The data plane as the edge's first message describes it. */
export function parseEdgeReady(message: unknown): DataPlane {
  return DataPlane.parse(fieldOf(message, 'dataPlane'))
}

function fieldOf(value: unknown, key: string): unknown {
  // A record of unknowns: each field is looked at before it is used.
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[key] : undefined
}

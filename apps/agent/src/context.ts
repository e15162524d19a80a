import type { Exec } from '@postern/host/exec'
import type { Environment } from './config.ts'
import type { Io } from './io.ts'

/** Everything a command may touch of the world around it, built once in main.ts. */
export interface Context {
  io: Io
  environment: Environment
  exec: Exec
  version: string
  /** How this very program is started again: Node with its options, and the file. */
  self: { program: string; args: readonly string[] }
  isRoot: boolean
  now(): number
  /** From 0 up to, not including, 1. */
  random(): number
  /** Aborted by SIGTERM and SIGINT. */
  signal: AbortSignal
}

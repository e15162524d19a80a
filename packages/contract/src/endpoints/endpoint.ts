import * as z from 'zod/mini'
import { ROLES, type Role } from '../sign-in/auth.ts'

/**
 * The credential that a caller shows. `session`: a console user (bearer; the cookie on GET and HEAD only), or a program
 * with an API token (bearer only). `download`: the same, or the session's token as `?token=`. `stream`: the same, or a
 * ticket as `?token=`. `node`: an access token of a node. `edge`: the edge's token.
 */
export type AuthKind = 'none' | 'session' | 'download' | 'stream' | 'session or node' | 'node' | 'edge'

/** What an endpoint is about, as a 404 names it. */
export type Noun =
  | 'Server'
  | 'Account'
  | 'Passkey'
  | 'Node'
  | 'Token'
  | 'Domain'
  | 'Service'
  | 'Edge'
  | 'Trace'
  | 'Channel'
  | 'Rule'
  | 'Provider'
  | 'Identity'
  | 'Person'
  | 'Session'
  | 'Invite'
  | 'Change'

interface Address {
  method: 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE'
  /** Fastify's form: `/api/nodes/:id`. `:nodeId` is always a node, every other parameter says which `noun`. */
  path: string
  noun: Noun
}

/**
 * Who may call; for people, those in one of these roles, or everybody who is signed in. `isWhole`: it is about the whole
 * installation, so that people who are limited to some nodes and domains may not. `isSessionOnly`: no program may, with
 * an API token of theirs. `isOwn`: it is about the person's own account, so that it is open even to people who must set
 * up a second factor before anything else. `isWayIn`: it decides who may come in, so that a person whose sign-in was a
 * while ago gives the password once more (`confirmAccount`).
 */
type Permission =
  | {
      auth: 'none' | 'node' | 'edge'
      roles?: never
      isWhole?: never
      isSessionOnly?: never
      isOwn?: never
      isWayIn?: never
    }
  | {
      auth: 'session' | 'download' | 'stream' | 'session or node'
      roles: readonly Role[] | 'any'
      isWhole?: true
      isSessionOnly?: true
      isOwn?: true
      isWayIn?: true
    }

interface Shapes {
  params?: z.ZodMiniType
  query?: z.ZodMiniType
  body?: z.ZodMiniObject
  /** What a success answers with; absent for files and sockets. */
  answer?: z.ZodMiniType
  /** What a node gets instead, where people and nodes may call. */
  answerToNode?: z.ZodMiniType
  /** The data of a stream's events by the event's name; events without a name are called `message`. */
  events?: Readonly<Record<string, z.ZodMiniType>>
  status?: 200 | 201
  /** What strangers wrote stands in the answer beside what nobody may guess, so that its length must tell nothing. */
  isMixed?: true
}

export type Endpoint = Address & Permission & Shapes

/** The path of an endpoint with its `:names` filled in. */
export function pathOf(endpoint: Endpoint, params: Record<string, string | number> = {}): string {
  return endpoint.path.replace(/:([A-Za-z]+)/g, (_, key: string) =>
    encodeURIComponent(String(params[key] ?? '')),
  )
}

export const nothing = z.strictObject({})
export const deleted = z.object({ id: z.number() })

export const ADMINS: readonly Role[] = ['admin']
export const EDITORS: readonly Role[] = ['admin', 'editor']
/** Looking at something, following it, and changing it. */
export const look = { auth: 'session', roles: ROLES } as const
/** One's own account, for everybody who is signed in, whatever the role. */
export const everybody = { auth: 'session', roles: 'any', isSessionOnly: true, isOwn: true } as const
/** The same for what gives others a way in: not for people who must set up a second factor first. */
export const inPerson = { auth: 'session', roles: 'any', isSessionOnly: true } as const
export const watch = { auth: 'stream', roles: ROLES } as const
export const edit = { auth: 'session', roles: EDITORS } as const
/** The same for what is about the whole installation. */
export const lookAtAll = { ...look, isWhole: true } as const
export const administer = { auth: 'session', roles: ADMINS, isWhole: true } as const
/** Other people's accounts, which no program touches. */
export const managePeople = { ...administer, isSessionOnly: true } as const
/** What lets somebody in. */
export const letIn = { ...managePeople, isWayIn: true } as const

import * as z from 'zod/mini'
import { ROLES, type Role } from '../auth.ts'
import { idText } from '../fields.ts'

export const nothing = z.strictObject({})
export const deleted = z.object({ id: z.number() })
export const byId = z.object({ id: idText })

export const ADMINS: readonly Role[] = ['admin']
/** Looking at something, following it, and changing it. */
export const look = { auth: 'session', roles: ROLES } as const
export const watch = { auth: 'stream', roles: ROLES } as const
export const write = { auth: 'session', roles: ADMINS } as const

import * as z from 'zod/mini'
import { blankable } from '../fields.ts'
import { LIMITS } from '../limits.ts'

/**
 * The account's password, for what a person at an unlocked screen must not do. An account without one sends none, and
 * must have signed in within the last ten minutes.
 */
export const confirmingPassword = blankable(z.string().check(z.maxLength(LIMITS.passwordLength)))

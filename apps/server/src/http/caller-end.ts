import type { Hint } from '../changes/live.ts'
import type { Context } from '../context.ts'
import type { Session } from '../core/accounts/sessions.ts'
import { RequestError } from '../core/errors.ts'
import { getProgram, type Program } from '../core/programs/check.ts'
import { lacksFactor, type PersonCaller } from './auth.ts'

/** Within this, in ms, an API token that was revoked, or whose rights changed, ends what it opened. */
const LOOK_EVERY = 1000
const LONGEST_TIMER = 2 ** 31 - 1

/**
 * Watches the credential with which something was opened that outlasts its request.
 * @param end called, maybe more than once, when the credential has ended, or a program may do something else than before
 * @returns a function that stops watching
 */
export function watchCaller(context: Context, caller: PersonCaller, end: () => void): () => void {
  const left = Math.min(Math.max(caller.expiresAt - context.clock(), 0), LONGEST_TIMER)
  const timer = setTimeout(end, left)
  const stop =
    caller.kind === 'session' ? watchSession(context, caller, end) : watchProgram(context, caller, end)
  return () => {
    clearTimeout(timer)
    stop()
  }
}

function watchSession(context: Context, session: Session, end: () => void): () => void {
  return context.bus.listen((hint) => {
    if (endsAccess(context, hint, session)) end()
  })
}

/** Whether what was open for a session must end: what it shows was chosen by its access. */
function endsAccess(context: Context, hint: Hint, session: Session): boolean {
  if (hint.kind === 'session-ended') return hint.sessionId === session.sessionId
  if (hint.kind === 'access-changed') return hint.userId === session.userId
  // From now on the person must set up a second factor first.
  return hint.kind === 'changed' && hint.touched.settings !== undefined && lacksFactor(context, session)
}

/** Looks again and again: the rights of a token are also its person's, which change in many places. */
function watchProgram(context: Context, program: Program, end: () => void): () => void {
  const before = rightsOf(program)
  const look = async () => {
    const now = await getProgram(context, program.tokenId)
    if (rightsOf(now) !== before || lacksFactor(context, now)) end()
  }
  const timer = setInterval(() => {
    look().catch((err: unknown) => {
      if (err instanceof RequestError) end()
      else context.log.error({ err }, 'it is unknown whether an API token is still valid')
    })
  }, LOOK_EVERY)
  return () => clearInterval(timer)
}

const rightsOf = ({ role, reach }: Program) => JSON.stringify([role, reach])

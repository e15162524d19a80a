import { parseBypass } from '@postern/net/bypass'
import * as z from 'zod/mini'
import * as f from '../fields.ts'
import { BYPASS_MESSAGES } from '../messages.ts'
import { HttpServiceFields } from './services.ts'

/** The first line that is wrong, with its physical number. */
function checkBypass(form: Record<string, unknown>, found: z.core.$RefinementCtx): void {
  const { requireAuth, skipAuthRoutes } = form
  if (requireAuth !== true || typeof skipAuthRoutes !== 'string') return
  const [problem] = parseBypass(skipAuthRoutes).problems
  if (!problem) return
  const message = `Line ${problem.line} ${BYPASS_MESSAGES[problem.fault]}`
  found.addIssue({ code: 'custom', path: ['skipAuthRoutes'], message, input: skipAuthRoutes })
}

/** In a file of its own, because the console's first pages do not need the parser of expressions. */
export const HttpServiceForm = HttpServiceFields.check(z.superRefine(checkBypass, f.together))

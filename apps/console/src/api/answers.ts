import { ErrorBody, FieldError } from '@postern/contract/errors'
import * as z from 'zod/mini'
import { ApiError } from './api-error.ts'

/** The text of a body, or undefined when there is none. */
async function readText(response: Response): Promise<string | undefined> {
  const text = await response.text()
  return text === '' ? undefined : text
}

/** A success as the contract describes it; an answer without a body passes as undefined. */
export async function parseAnswer<T>(schema: z.ZodMiniType<T>, response: Response): Promise<T> {
  const text = await readText(response)
  // The caller's type decides; no endpoint whose fields it reads answers without a body.
  if (text === undefined) return undefined as T
  const result = schema.safeParse(parseJson(text))
  if (result.success) return result.data
  throw new ApiError("The console could not read the server's answer. Reload the page.", {
    status: response.status,
    code: 'answer',
    cause: result.error,
  })
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}

/** Some answers nest the list one level deeper. */
const NestedErrors = z.object({
  message: z.optional(z.string()),
  errors: z.object({ body: z.array(FieldError) }),
})
const OnlyMessage = z.object({ message: z.string() })

/** The error that a failed answer describes. */
export async function readError(response: Response): Promise<ApiError> {
  const { status } = response
  const body = parseJson((await readText(response)) ?? '')
  const plain = ErrorBody.safeParse(body)
  if (plain.success) return new ApiError(plain.data.message, { ...plain.data, status })
  const nested = NestedErrors.safeParse(body)
  if (nested.success)
    return new ApiError(nested.data.message ?? 'Validation failed', {
      status,
      errors: nested.data.errors.body,
    })
  const message = OnlyMessage.safeParse(body)
  return new ApiError(message.success ? message.data.message : statusMessage(status), { status })
}

function statusMessage(status: number): string {
  if (status === 400) return 'Unknown Error'
  if (status === 404) return 'This no longer exists.'
  if (status === 502 || status === 503 || status === 504)
    return "The server can't be reached right now. Published services usually keep running."
  return `The server answered with an error (status ${status}).`
}

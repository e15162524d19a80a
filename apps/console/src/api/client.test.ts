import { endpoints } from '@postern/contract/endpoints/console-endpoints'
import { login as signIn } from '@postern/contract/endpoints/login'
import { expect, test, vi } from 'vitest'
import { ApiError } from './api-error.ts'
import { createApi } from './client.ts'

function apiThatAnswers(response: () => Response | Promise<Response>, token: string | null = 'secret') {
  const fetch = vi.fn<typeof globalThis.fetch>(async () => response())
  const onAccepted = vi.fn()
  const onRefused = vi.fn()
  const onSignIn = vi.fn()
  const onFactorWanted = vi.fn()
  const onConfirm = vi.fn(async () => true)
  const onBadRequest = vi.fn()
  const api = createApi({
    fetch,
    token: () => token,
    key: () => 'half',
    now: () => 0,
    onAccepted,
    onRefused,
    onSignIn,
    onFactorWanted,
    onConfirm,
    onBadRequest,
  })
  return { api, fetch, onAccepted, onRefused, onSignIn, onFactorWanted, onConfirm, onBadRequest }
}

const json = (status: number, body: unknown) => () => Response.json(body, { status })

async function errorOf(promise: Promise<unknown>): Promise<ApiError> {
  const error = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  )
  if (!(error instanceof ApiError)) throw new Error('no ApiError', { cause: error })
  return error
}

test('a call has the filled path, the query without absent keys, the bearer and no body on GET', async () => {
  const { api, fetch } = apiThatAnswers(json(200, { data: [], page: 1, limit: 5, total: 0 }))
  await api.listPage(endpoints.listNodeServices, {
    params: { nodeId: 7, type: 'http' },
    query: { page: 1, limit: 5 },
  })
  const [url, init] = fetch.mock.calls[0] ?? []
  expect(url).toBe('/api/services/7/http?page=1&limit=5')
  expect(init).toMatchObject({ method: 'GET', body: null, credentials: 'same-origin' })
  expect(init?.headers).toMatchObject({ authorization: 'Bearer secret', 'x-postern-key': 'half' })
})

test('a call without input is sent without a body', async () => {
  const { api, fetch } = apiThatAnswers(json(200, { id: 3 }))
  await api
    .call(endpoints.disableService, { params: { nodeId: 7, type: 'http', id: 3 } })
    .catch(() => undefined)
  const init = fetch.mock.calls[0]?.[1]
  expect(init).toMatchObject({ method: 'PATCH', body: null })
  expect(init?.headers).not.toHaveProperty('content-type')
})

test('signed out no authorization is sent', async () => {
  const { api, fetch } = apiThatAnswers(json(200, { token: 't', expires_in: 1 }), null)
  await api.call(signIn.login, { body: { username: 'a', password: 'b' } })
  expect(fetch.mock.calls[0]?.[1]?.headers).not.toHaveProperty('authorization')
  expect(fetch.mock.calls[0]?.[1]?.body).toBe('{"username":"a","password":"b"}')
})

test('a bare array is one page of all rows', async () => {
  const { api } = apiThatAnswers(json(200, []))
  expect(await api.listAll(endpoints.listDomains, {})).toEqual([])
})

test('400 shows the message', async () => {
  const { api, onBadRequest, onRefused } = apiThatAnswers(json(400, { message: 'Unreadable' }))
  await errorOf(api.call(endpoints.me, {}))
  expect(onBadRequest).toHaveBeenCalledWith('Unreadable')
  expect(onRefused).not.toHaveBeenCalled()
})

test('400 without a message is an unknown error', async () => {
  const { api, onBadRequest } = apiThatAnswers(() => new Response('<html>', { status: 400 }))
  await errorOf(api.call(endpoints.me, {}))
  expect(onBadRequest).toHaveBeenCalledWith('Unknown Error')
})

test('an answer that needs a session proves the token, and the sign-in proves nothing', async () => {
  const account = apiThatAnswers(json(200, { id: 1, username: 'admin', role: 'admin', reach: null }))
  await account.api.call(endpoints.me, {})
  expect(account.onAccepted).toHaveBeenCalledOnce()
  const login = apiThatAnswers(json(200, { token: 't', expires_in: 1 }))
  await login.api.call(signIn.login, { body: { username: 'a', password: 'b' } })
  expect(login.onAccepted).not.toHaveBeenCalled()
  const refused = apiThatAnswers(json(401, { message: 'no' }))
  await errorOf(refused.api.call(endpoints.me, {}))
  expect(refused.onAccepted).not.toHaveBeenCalled()
})

test.each([401, 403, 429])('%s with a token ends the session', async (status) => {
  const { api, onRefused } = apiThatAnswers(json(status, { message: 'no' }))
  await errorOf(api.call(endpoints.me, {}))
  expect(onRefused).toHaveBeenCalledOnce()
})

test.each(['secret', null])(
  'without the sign-in in front of the console the page is reloaded, as %s',
  async (token) => {
    const { api, onRefused, onSignIn } = apiThatAnswers(json(401, { message: 'no', code: 'sign_in' }), token)
    await errorOf(api.call(endpoints.me, {}))
    await errorOf(api.call(signIn.login, { body: { username: 'a', password: 'b' } }))
    expect(onSignIn).toHaveBeenCalledTimes(2)
    expect(onRefused).not.toHaveBeenCalled()
  },
)

test('a refusal because of the role does not end the session', async () => {
  const { api, onRefused } = apiThatAnswers(
    json(403, { message: 'Your role does not allow this', code: 'role' }),
  )
  expect(await errorOf(api.call(endpoints.me, {}))).toMatchObject({ status: 403, code: 'role' })
  expect(onRefused).not.toHaveBeenCalled()
})

test.each([401, 429])('%s at the sign-in does not', async (status) => {
  const { api, onRefused } = apiThatAnswers(json(status, { message: 'no' }), null)
  await errorOf(api.call(signIn.login, { body: { username: 'a', password: 'b' } }))
  expect(onRefused).not.toHaveBeenCalled()
})

test('a page whose token expired leaves, too', async () => {
  const { api, onRefused } = apiThatAnswers(json(401, { message: 'no' }), null)
  await errorOf(api.call(endpoints.me, {}))
  expect(onRefused).toHaveBeenCalledOnce()
})

test.each([
  ['as the contract has them', [{ field: 'name', message: 'is odd' }]],
  ['one level deeper', { body: [{ field: 'name', message: 'is odd' }] }],
])('field errors %s come through', async (_, errors) => {
  const { api } = apiThatAnswers(json(422, { message: 'Validation failed', errors }))
  const error = await errorOf(api.call(endpoints.me, {}))
  expect(error).toMatchObject({ status: 422, errors: [{ field: 'name', message: 'is odd' }] })
})

test('an answer without a body passes', async () => {
  const { api } = apiThatAnswers(() => new Response(null, { status: 204 }))
  expect(await api.call(endpoints.logout, {})).toBeUndefined()
})

test('an answer that does not match the contract is an error, not a broken page', async () => {
  const { api } = apiThatAnswers(json(200, { id: 'x' }))
  expect(await errorOf(api.call(endpoints.me, {}))).toMatchObject({ code: 'answer' })
})

test('a missing answer is an error of its own', async () => {
  const { api } = apiThatAnswers(() => Promise.reject(new TypeError('Failed to fetch')))
  expect(await errorOf(api.call(endpoints.me, {}))).toMatchObject({ status: 0, code: 'network' })
})

test('a page that was left sees only the abort', async () => {
  const { api } = apiThatAnswers(() => Promise.reject(new DOMException('left', 'AbortError')))
  const signal = AbortSignal.abort()
  await expect(api.call(endpoints.me, { signal })).rejects.toThrow('left')
})

test('a file gets the name that the server gave it', async () => {
  const headers = { 'content-disposition': 'attachment; filename="postern-office.conf"' }
  const { api } = apiThatAnswers(() => new Response('[Interface]', { headers }))
  const file = await api.download(endpoints.downloadNode, { params: { id: 1 } }, 'config.conf')
  expect([file.name, await file.blob.text()]).toEqual(['postern-office.conf', '[Interface]'])
})

test.each(['attachment', 'attachment; filename="../../x"'])(
  '%s falls back to the default name',
  async (value) => {
    const { api } = apiThatAnswers(() => new Response('', { headers: { 'content-disposition': value } }))
    const file = await api.download(endpoints.downloadNode, { params: { id: 1 } }, 'config.conf')
    expect(file.name).toBe('config.conf')
  },
)

test('a stream carries a ticket in its address, and not the token', async () => {
  const { api } = apiThatAnswers(json(200, { ticket: 'ptt_1', expires_in: 60 }))
  expect(await api.streamUrl(endpoints.streamNodes, { page: 1, search: undefined }, false)).toBe(
    '/api/nodes/stream?page=1&token=ptt_1',
  )
})

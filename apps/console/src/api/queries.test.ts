import { QueryClient, QueryObserver } from '@tanstack/react-query'
import { expect, test } from 'vitest'
import { reload } from './queries.ts'

test('a request under way when something changes is repeated once, however often it changes', async () => {
  const queries = new QueryClient()
  const queryKey = ['/api/services/1']
  const waiting: ((answer: string) => void)[] = []
  const queryFn = () => new Promise<string>((resolve) => waiting.push(resolve))
  const observer = new QueryObserver(queries, { queryKey, queryFn })
  const end = observer.subscribe(() => undefined)
  for (let i = 0; i < 3; i++) void reload(queries, { queryKey })
  expect(waiting).toHaveLength(1)
  waiting[0]?.('of before')
  await expect.poll(() => waiting.length).toBe(2)
  waiting[1]?.('of after')
  await expect.poll(() => queries.getQueryData(queryKey)).toBe('of after')
  await expect.poll(() => queries.isFetching()).toBe(0)
  expect(waiting).toHaveLength(2)
  end()
})

test('a first request that fails is not repeated by itself', async () => {
  const queries = new QueryClient({ defaultOptions: { queries: { retry: false } } })
  const queryKey = ['/api/services/1']
  let asked = 0
  const queryFn = async () => {
    asked++
    throw new Error('refused')
  }
  const observer = new QueryObserver(queries, { queryKey, queryFn })
  const end = observer.subscribe(() => undefined)
  void reload(queries, { queryKey })
  await expect.poll(() => observer.getCurrentResult().isError).toBe(true)
  expect(asked).toBe(1)
  end()
})

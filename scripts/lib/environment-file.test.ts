import { expect, test } from 'vitest'
import { parseEnvironmentFile, renderEnvironmentFile } from './environment-file.ts'

test('values come back as they went in', () => {
  const values = { POSTERN_ADMIN_USERNAME: 'an "odd" \\ name $HOME', POSTERN_HTTP_PORT: '8080' }
  expect(parseEnvironmentFile(renderEnvironmentFile(values))).toEqual(values)
})

test('lines that a person wrote are read too', () => {
  const text = '# a comment\nPOSTERN_HTTP_PORT=8080\n\nPOSTERN_PUBLIC_HOST="a.example.com"\nnonsense\n'
  expect(parseEnvironmentFile(text)).toEqual({
    POSTERN_HTTP_PORT: '8080',
    POSTERN_PUBLIC_HOST: 'a.example.com',
  })
})

test('a line break cannot add a setting', () => {
  expect(() => renderEnvironmentFile({ A: 'x\nPOSTERN_HTTP_PORT=1' })).toThrow('A must be one line')
})

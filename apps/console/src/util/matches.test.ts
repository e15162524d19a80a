import { describe, expect, it } from 'vitest'
import { splitMatches } from './matches.ts'

describe('splitMatches', () => {
  it('puts every match at an odd index and loses nothing', () => {
    expect(splitMatches('GET /Api/api', 'API')).toEqual(['GET /', 'Api', '/', 'api', ''])
    expect(splitMatches('none', 'api')).toEqual(['none'])
    expect(splitMatches('all', '')).toEqual(['all'])
  })
  it('marks nothing where lowering changes the length', () => {
    expect(splitMatches('İapi', 'api')).toEqual(['İapi'])
  })
})

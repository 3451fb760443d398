import { expect } from 'chai'
import { readSources } from '../support/sources.ts'

const SOURCES = readSources('console/src/**/*.{ts,tsx}')

describe('the sources of the console', () => {
  it('know the gateway by HTTP only: they import nothing of it', () => {
    const outside = SOURCES.flatMap(({ path, inner, imports }) => [
      ...inner.filter((target) => !target.startsWith('console/src/')).map((target) => `${path} imports ${target}`),
      ...imports.filter((name) => /^(?:node:|unified-model-gateway)/.test(name)).map((name) => `${path} imports ${name}`),
    ])
    expect(outside).to.deep.equal([])
  })

  it('go through one place for every request, but for what has a key of its own', () => {
    const fetching = SOURCES.filter(({ code }) => /\bfetch\(/.test(code)).map(({ path }) => path)
    expect(fetching).to.have.members(['console/src/api/http.ts', 'console/src/pages/playground/use-answer.ts'])
  })

  it('never make HTML of text', () => {
    const unsafe = SOURCES.filter(({ code }) =>
      /dangerouslySetInnerHTML|\.(?:inner|outer)HTML\b|insertAdjacentHTML|document\.write/.test(code),
    )
    expect(unsafe.map(({ path }) => path)).to.deep.equal([])
  })

  it('keep no key where it outlives the page', () => {
    const keeping = SOURCES.filter(({ code }) => /\b(?:localStorage|sessionStorage|indexedDB)\b/.test(code))
    expect(keeping.map(({ path }) => path)).to.deep.equal([])
  })

  it('are small files, but for the generated one', () => {
    const written = SOURCES.filter(({ path }) => path !== 'console/src/api/management-api.ts')
    const long = written.filter(({ text }) => text.split('\n').length > 200).map(({ path }) => path)
    expect(long).to.deep.equal([])
  })
})

import { type RefObject, useCallback, useLayoutEffect, useRef, useState } from 'react'

/** How near to the end counts as being there; a fraction of a pixel is lost by scaled screens. */
const NEAR_PX = 24

export interface Follow {
  pane: RefObject<HTMLDivElement | null>
  isFollowing: boolean
  onScroll: () => void
  toEnd: () => void
}

/** Keeps a scrolling pane at its end while the person is there; scrolling up holds it. */
export function useFollow(content: unknown): Follow {
  const pane = useRef<HTMLDivElement>(null)
  const [isFollowing, setFollowing] = useState(true)

  const toEnd = useCallback(() => {
    setFollowing(true)
    const box = pane.current
    if (box) box.scrollTop = box.scrollHeight
  }, [])
  const onScroll = useCallback(() => {
    const box = pane.current
    if (box) setFollowing(box.scrollHeight - box.scrollTop - box.clientHeight < NEAR_PX)
  }, [])
  // biome-ignore lint/correctness/useExhaustiveDependencies: new content is what moves the end
  useLayoutEffect(() => {
    const box = pane.current
    if (box && isFollowing) box.scrollTop = box.scrollHeight
  }, [content, isFollowing])
  return { pane, isFollowing, onScroll, toEnd }
}

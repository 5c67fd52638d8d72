/** Says a few things to screen readers: started, needs you, finished, failed. Streaming text is never announced. */

export type Urgency = "polite" | "assertive";

export function announce(words: string, urgency: Urgency): void {
  const region = document.getElementById(`announce-${urgency}`);
  if (!region) return;
  // The same words twice are a change only when the region was empty between.
  region.textContent = "";
  requestAnimationFrame(() => {
    region.textContent = words;
  });
}

/** Placeholders of what is built for a later version. Inert: they hold no tools, no stores and no subscriptions. */
import styles from "./View.module.css";

const ISLANDS = [
  ["Browser", "Looks at the running app and checks it. Not part of this version."],
  ["Design", "Canvas and mock-ups beside the code. Not part of this version."],
  ["Device control", "Works with other programs on this machine. Not part of this version."],
] as const;

export default function Islands() {
  return (
    <>
      <h3 className={styles.title}>Future islands</h3>
      <p className={styles.note}>They are off and cannot be switched on. Coding sessions know nothing of them.</p>
      {ISLANDS.map(([name, what]) => (
        <div key={name} className={styles.provider}>
          <div className={styles.providerHead}>
            <span className={styles.providerName}>{name}</span>
            <span className={styles.providerState}>Off</span>
          </div>
          <p className={styles.note}>{what}</p>
        </div>
      ))}
    </>
  );
}
